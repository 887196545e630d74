import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { ReadyResponse } from "@/lib/api/headers";
import { completeStandIn, type StandIn } from "@/lib/api/stand-in";

/** The Headers of a Node request. */
class IncomingHeaders implements StandIn<Headers> {
  private made: Headers | undefined;

  constructor(private readonly incoming: IncomingMessage) {}

  get(name: string): string | null {
    const value = this.incoming.headers[name.toLowerCase()];
    return (Array.isArray(value) ? value.join(", ") : value) ?? null;
  }

  get real(): Headers {
    if (!this.made) {
      this.made = new Headers();
      for (const [name, values = []] of Object.entries(this.incoming.headers)) {
        for (const value of [values].flat()) this.made.append(name, value);
      }
    }
    return this.made;
  }
}
completeStandIn(IncomingHeaders, Headers);

/** The Request of a Node request; its body is read from the socket as the handler asks for it. */
class IncomingRequest implements StandIn<Request> {
  private made: Request | undefined;
  private readonly incomingHeaders: IncomingHeaders;

  constructor(
    private readonly incoming: IncomingMessage,
    private readonly address: string,
  ) {
    this.incomingHeaders = new IncomingHeaders(incoming);
  }

  get method(): string {
    return this.incoming.method ?? "";
  }

  get url(): string {
    return this.address;
  }

  get headers(): Headers {
    return this.incomingHeaders as unknown as Headers;
  }

  get real(): Request {
    if (!this.made) {
      const { method } = this.incoming;
      const body =
        method === "POST" ? { body: Readable.toWeb(this.incoming) as ReadableStream, duplex: "half" } : {};
      this.made = new Request(this.address, {
        method,
        headers: this.incomingHeaders.real,
        ...body,
      } as RequestInit);
    }
    return this.made;
  }
}
completeStandIn(IncomingRequest, Request);

/** The Headers of a Node request. */
export function toHeaders(incoming: IncomingMessage): Headers {
  return new IncomingHeaders(incoming) as unknown as Headers;
}

/** The Request of a Node request, at this address. */
export function toRequest(incoming: IncomingMessage, url: string): Request {
  return new IncomingRequest(incoming, url) as unknown as Request;
}

/** Sends a Response. A connection whose request was not read to its end is closed after it. */
export async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (hasBody(incoming) && !incoming.complete) outgoing.shouldKeepAlive = false;
  if (response instanceof ReadyResponse) {
    outgoing.writeHead(response.status, response.fields as string[]);
    outgoing.end(response.content);
    return;
  }
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(response.body && Buffer.from(await response.arrayBuffer()));
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
