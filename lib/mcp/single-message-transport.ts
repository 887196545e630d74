import type { JSONRPCMessage, JSONRPCRequest, Transport } from "@modelcontextprotocol/server";

/**
 * Carries one request to a server and its answer back, with no Response being made on the way. What else the server
 * would say has nowhere to go: there is no stream.
 */
export class OneMessage implements Transport {
  onmessage?: Transport["onmessage"];
  private answered: (answer: JSONRPCMessage) => void = () => {};

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) this.answered(message);
  }

  /** The answer to this request, from the server that is connected. */
  carry(request: JSONRPCRequest): Promise<JSONRPCMessage> {
    return new Promise((resolve) => {
      this.answered = resolve;
      this.onmessage?.(request);
    });
  }
}
