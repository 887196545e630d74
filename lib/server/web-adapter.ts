import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { type IncomingBody, incomingBody } from "@/lib/http/body";
import { delegateToReal, type Lazy } from "@/lib/http/lazy-object";
import { LazyResponse } from "@/lib/http/response";
import type { JoinedMessage } from "@/lib/server/joined-message";

/** Lazy Headers of a Node request. */
class IncomingHeaders implements Lazy<Headers> {
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

  /** Uses the headers of the real Request from now on. */
  becomeThoseOf({ headers }: Request): void {
    this.#made = headers;
  }
}
delegateToReal(IncomingHeaders, Headers);

/** A lazy Request of a Node request. Its body is read from the socket when the handler reads it. */
class IncomingRequest implements Lazy<Request> {
  readonly #incoming: JoinedMessage;
  readonly #address: string;
  readonly #headers: IncomingHeaders;
  readonly #outgoing: ServerResponse | undefined;
  #made: Request | undefined;

  constructor(incoming: JoinedMessage, address: string, outgoing: ServerResponse | undefined) {
    this.#incoming = incoming;
    this.#address = address;
    this.#headers = new IncomingHeaders(incoming);
    this.#outgoing = outgoing;
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
      const headers = this.#headers.real;
      const body = method === "POST" ? { body: Readable.toWeb(this.#inviteBody()), duplex: "half" } : {};
      this.#made = new Request(this.#address, { method, headers, ...body } as RequestInit);
      this.#headers.becomeThoseOf(this.#made);
    }
    return this.#made;
  }

  [incomingBody](): IncomingBody {
    return this.#inviteBody();
  }

  /** Sends the 100 that a client may wait for before it sends the body (RFC 9110 §10.1.1). */
  #inviteBody(): JoinedMessage {
    if (/^100-continue$/i.test(this.#incoming.headers.expect ?? "")) this.#outgoing?.writeContinue();
    return this.#incoming;
  }
}
delegateToReal(IncomingRequest, Request);

/** The Headers of a Node request. */
export function toHeaders(incoming: IncomingMessage): Headers {
  return new IncomingHeaders(incoming) as unknown as Headers;
}

/** The Request of a Node request at this URL. `outgoing` sends the 100 that a client may wait for. */
export function toRequest(incoming: JoinedMessage, url: string, outgoing?: ServerResponse): Request {
  return new IncomingRequest(incoming, url, outgoing) as unknown as Request;
}

/** Closes the connection after the response if the body was not read to its end. */
export function leaveUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (hasBody(incoming) && !incoming.complete) outgoing.shouldKeepAlive = false;
}

/** Sends a Response. */
export async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  leaveUnread(incoming, outgoing);
  const ready = response instanceof LazyResponse ? response.parts : undefined;
  if (ready) {
    outgoing.writeHead(response.status, ready.fields as string[]).end(ready.content);
    return;
  }
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(response.body && Buffer.from(await response.arrayBuffer()));
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
