import type { JSONRPCMessage, JSONRPCRequest, Transport } from "@modelcontextprotocol/server";

/** A transport for one request and its response. Other messages of the server are dropped: there is no stream. */
export class SingleMessageTransport implements Transport {
  onmessage?: Transport["onmessage"];
  private respond: (response: JSONRPCMessage) => void = () => {};

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) this.respond(message);
  }

  /** Sends a request to the connected server, and resolves with its response. */
  request(request: JSONRPCRequest): Promise<JSONRPCMessage> {
    return new Promise((resolve) => {
      this.respond = resolve;
      this.onmessage?.(request);
    });
  }
}
