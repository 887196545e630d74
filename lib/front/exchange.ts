import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { ReadyResponse } from "@/lib/api/headers";
import { completeStandIn, type StandIn } from "@/lib/api/stand-in";

/** The Headers of a Node request. */
class IncomingHeaders implements StandIn<Headers> {
  readonly #incoming: IncomingMessage;
  #made: Headers | undefined;

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming;
  }

  get(name: string): string | null {
    if (this.#made) return this.#made.get(name);
    const value: unknown = this.#incoming.headers[name.toLowerCase()];
    if (typeof value === "string") return value;
    return Array.isArray(value) ? value.join(", ") : null;
  }

  get real(): Headers {
    if (!this.#made) {
      this.#made = new Headers();
      for (const [name, values = []] of Object.entries(this.#incoming.headers)) {
        for (const value of [values].flat()) this.#made.append(name, value);
      }
    }
    return this.#made;
  }

  /** Lets other headers be the real ones from now on. */
  becomeThoseOf({ headers }: Request): void {
    this.#made = headers;
  }
}
completeStandIn(IncomingHeaders, Headers);

/** The Request of a Node request; its body is read from the socket as the handler asks for it. */
class IncomingRequest implements StandIn<Request> {
  readonly #incoming: IncomingMessage;
  readonly #address: string;
  readonly #headers: IncomingHeaders;
  #made: Request | undefined;

  constructor(incoming: IncomingMessage, address: string) {
    this.#incoming = incoming;
    this.#address = address;
    this.#headers = new IncomingHeaders(incoming);
  }

  get method(): string {
    return this.#incoming.method ?? "";
  }

  get url(): string {
    return new URL(this.#address).href;
  }

  get headers(): Headers {
    return this.#headers as unknown as Headers;
  }

  get real(): Request {
    if (!this.#made) {
      const { method } = this.#incoming;
      const body =
        method === "POST" ? { body: Readable.toWeb(this.#incoming) as ReadableStream, duplex: "half" } : {};
      const headers = this.#headers.real;
      this.#made = new Request(this.#address, { method, headers, ...body } as RequestInit);
      this.#headers.becomeThoseOf(this.#made);
    }
    return this.#made;
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
  const ready = response instanceof ReadyResponse ? response.parts : undefined;
  if (ready) {
    outgoing.writeHead(response.status, ready.fields as string[]);
    outgoing.end(ready.content);
    return;
  }
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(response.body && Buffer.from(await response.arrayBuffer()));
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
