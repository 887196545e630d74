import { delegateToReal, type Lazy } from "@/lib/http/lazy-object";

// One answer in JSON suits every client, whatever it says that it accepts; many say something odd.
const accepted = "application/json, text/event-stream";

/** The headers of a message as the protocol's own library is to see them. */
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

/** The request that a message came with, its body read: the library looks at its headers, and hardly at more. */
export class MessageRequest implements Lazy<Request> {
  readonly method = "POST";
  readonly headers: Headers;
  /** Nobody breaks off what is answered at once. */
  readonly signal = new AbortController().signal;
  readonly #address: string;
  #made: Request | undefined;

  constructor(address: string, sent: Headers) {
    this.#address = address;
    this.headers = new MessageHeaders(sent) as unknown as Headers;
  }

  get real(): Request {
    this.#made ??= new Request(this.#address, { method: this.method, headers: [...this.headers.entries()] });
    return this.#made;
  }
}
delegateToReal(MessageRequest, Request);
