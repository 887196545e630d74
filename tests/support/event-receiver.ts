import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

/** What a receiver got, verified by the official library, in its order. */
export type Received = {
  id: string;
  type: string;
  account: string;
  number: number;
  data: Record<string, unknown>;
  signature: string;
  /** What it signs. */
  signed: string;
  atMs: number;
};

type Respond = (event: Received, response: ServerResponse, request: IncomingMessage) => unknown;

const accept: Respond = (_, response) => response.writeHead(204).end();

/** One of the operator's systems, which gets webhooks. */
export class EventReceiver {
  readonly received: Received[] = [];
  /** What could not be verified. */
  readonly faults: unknown[] = [];
  secret: string | undefined;
  respond: Respond = accept;
  private constructor(
    readonly url: string,
    private readonly server: ReturnType<typeof createServer>,
  ) {}

  static async start(): Promise<EventReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const receiver = new EventReceiver(`http://127.0.0.1:${port}/events`, server);
    server.on("request", (request, response) => receiver.take(request, response));
    return receiver;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { headers } = request;
    try {
      const { type, data } = (
        this.secret
          ? new Webhook(this.secret).verify(body, headers as Record<string, string>)
          : JSON.parse(body)
      ) as { type: string; data: { account: string; number: number } };
      const id = String(headers["webhook-id"]);
      const signature = String(headers["webhook-signature"]);
      const signed = `${id}.${headers["webhook-timestamp"]}.${body}`;
      const { account, number } = data;
      const event = { id, type, account, number, data, signature, signed, atMs: Date.now() };
      this.received.push(event);
      this.respond(event, response, request);
    } catch (fault) {
      this.faults.push(fault);
      response.writeHead(401).end("not ours");
    }
  }

  /** Accepts everything again. */
  recover(): void {
    this.respond = accept;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The faults of an order: what is missing, what came before one of an earlier number, and ids of different events. */
export function findFaults(received: readonly Received[], counts: ReadonlyMap<string, number>): string[] {
  const faults: string[] = [];
  const seen = new Map<string, { next: number; ids: Map<number, string> }>();
  for (const { account, number, id } of received) {
    const own = seen.get(account) ?? { next: 1, ids: new Map() };
    seen.set(account, own);
    const known = own.ids.get(number);
    if (known !== undefined && known !== id) faults.push(`${account} ${number} has two ids`);
    if (known === undefined && number !== own.next)
      faults.push(`${account} ${number} came before ${own.next}`);
    if (known === undefined) own.next = number + 1;
    own.ids.set(number, id);
  }
  for (const [account, count] of counts) {
    const last = (seen.get(account)?.next ?? 1) - 1;
    if (last !== count) faults.push(`${account} has ${last} of ${count}`);
  }
  return faults;
}
