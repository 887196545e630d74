import { delegateToReal, type Lazy } from "@/lib/http/lazy-object";

// Clients send all kinds of Accept fields, and every client can read JSON.
const accepted = "application/json, text/event-stream";

/** The request's headers with an Accept field that the MCP library takes. */
class MessageHeaders implements Lazy<Headers> {
  readonly #sent: Headers;
  #made: Headers | undefined;

  constructor(sent: Headers) {
    this.#sent = sent;
  }

  get(name: string): string | null {
    return name.toLowerCase() === "accept" ? accepted : this.#sent.get(name);
  }

  get real(): Headers {
    this.#made ??= new Headers([...this.#sent.entries(), ["accept", accepted]]);
    return this.#made;
  }
}
delegateToReal(MessageHeaders, Headers);

/** The request of a message whose body has been read. The MCP library mostly reads its headers. */
export class MessageRequest implements Lazy<Request> {
  readonly method = "POST";
  readonly headers: Headers;
  readonly signal = new AbortController().signal;
  readonly #url: string;
  #made: Request | undefined;

  constructor(url: string, sent: Headers) {
    this.#url = url;
    this.headers = new MessageHeaders(sent) as unknown as Headers;
  }

  get real(): Request {
    this.#made ??= new Request(this.#url, { method: this.method, headers: [...this.headers.entries()] });
    return this.#made;
  }
}
delegateToReal(MessageRequest, Request);
