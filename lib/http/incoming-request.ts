import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";

/** A Node stream that joins the pieces of its body, and reports whether they are too small. */
export type IncomingBody = Readable & { hasTooSmallPieces: boolean };

/**
 * A request as our own server passes it to route handlers, with the members of a `Request` that they read. Real Requests
 * and Headers take several microseconds each, more than the rest of a health check.
 */
export class IncomingRequest {
  readonly headers: Headers;
  readonly method: string;

  /** @param outgoing - sends the 100 that a client may wait for before it sends the body (RFC 9110 §10.1.1) */
  constructor(
    private readonly incoming: IncomingMessage & IncomingBody,
    readonly url: string,
    private readonly outgoing?: ServerResponse,
  ) {
    this.headers = new IncomingHeaders(incoming) as unknown as Headers;
    this.method = incoming.method ?? "";
  }

  /** Aborts if the client leaves before its answer is sent, also if it has left already. */
  get signal(): AbortSignal {
    const leaving = new AbortController();
    if (this.outgoing?.closed) leaving.abort();
    else this.outgoing?.once("close", () => leaving.abort());
    return leaving.signal;
  }

  /** The Node stream of its body, which the client may send from now on. */
  inviteBody(): IncomingBody {
    if (/^100-continue$/i.test(this.incoming.headers.expect ?? "")) this.outgoing?.writeContinue();
    return this.incoming;
  }
}

/** A GET of our own, for a page that is kept: it is not logged. */
export class OwnRequest extends IncomingRequest {
  constructor(url: string, headers: IncomingMessage["headers"]) {
    super({ method: "GET", headers } as IncomingMessage & IncomingBody, url);
  }
}

/** The headers of a Node request, with what handlers use of `Headers`. */
class IncomingHeaders implements Pick<Headers, "get" | "has">, Iterable<[string, string]> {
  constructor(private readonly incoming: IncomingMessage) {}

  get(name: string): string | null {
    const value: unknown = this.incoming.headers[name.toLowerCase()];
    if (typeof value === "string") return value;
    return Array.isArray(value) ? value.join(", ") : null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  *[Symbol.iterator](): Generator<[string, string]> {
    for (const [name, values = []] of Object.entries(this.incoming.headers)) {
      for (const value of [values].flat()) yield [name, value];
    }
  }
}
