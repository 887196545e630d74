import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { type IncomingBody, incomingBody } from "@/lib/http/body";
import { delegateToReal, type Lazy } from "@/lib/http/lazy-object";
import { type HeaderList, LazyResponse } from "@/lib/http/response";
import type { JoinedMessage } from "@/lib/server/joined-message";

/** The Headers of a Node request. */
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

  /** Lets other headers be the real ones from now on. */
  becomeThoseOf({ headers }: Request): void {
    this.#made = headers;
  }
}
delegateToReal(IncomingHeaders, Headers);

/** The Request of a Node request; its body is read from the socket as the handler asks for it. */
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

  /** A client may wait with the body until it is invited (RFC 9110 §10.1.1). */
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

/** The Request of a Node request, at this address; a client that waits to be asked for the body is asked by `outgoing`. */
export function toRequest(incoming: JoinedMessage, url: string, outgoing?: ServerResponse): Request {
  return new IncomingRequest(incoming, url, outgoing) as unknown as Request;
}

/** Closes a connection after its answer when the body of the request was not read to its end. */
export function leaveUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (hasBody(incoming) && !incoming.complete) outgoing.shouldKeepAlive = false;
}

/**
 * Sends a Response.
 *
 * @param beside - headers that it gets where it has none of that name itself
 */
export async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  beside?: HeaderList,
): Promise<void> {
  leaveUnread(incoming, outgoing);
  const ready = response instanceof LazyResponse ? response.parts : undefined;
  if (ready) {
    outgoing.writeHead(
      response.status,
      beside ? withBeside(ready.fields, beside) : (ready.fields as string[]),
    );
    outgoing.end(ready.content);
    return;
  }
  outgoing.writeHead(response.status, withBeside([...response.headers].flat(), beside ?? []));
  outgoing.end(response.body && Buffer.from(await response.arrayBuffer()));
}

/** The fields of an answer, and of those that go beside them the ones whose names it has not itself. */
function withBeside(fields: HeaderList, beside: HeaderList): string[] {
  const own = new Set(fields.filter((_, at) => at % 2 === 0));
  return [...fields, ...beside.filter((_, at) => !own.has(beside[at - (at % 2)] ?? ""))];
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
