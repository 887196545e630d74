import type { IncomingMessage, ServerResponse } from "node:http";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import type { Answer, HeaderList } from "@/lib/http/response";
import { chooseEncoding, type Encoding, encode, without } from "@/lib/server/compression";

/** Node writes a head and a text at once, and bytes after the head. To copy more than this costs more than a second piece. */
const maxTextBytes = 8 * 1024;

/** It in one encoding, with its `ETag` among its fields; a short one as a text whose characters are its bytes (`latin1`). */
type Encoded = { status: number; etag: string; fields: HeaderList; bytes: Buffer | string };

/** A response that is the same for everyone, kept in memory in each encoding, with its `ETag`. */
export class CachedResponse {
  private readonly answer: Answer;
  private readonly hash: string;
  private readonly made = new Map<Encoding, Encoded | Promise<Encoded>>();

  constructor(
    answer: Answer,
    private readonly make = encode,
  ) {
    this.answer = { ...answer, fields: without(answer.fields, "etag", "x-request-id") };
    this.hash = hashContent(answer.content ?? "");
  }

  /**
   * Answers a GET or HEAD, and returns the status: 304 if the client's copy is current (RFC 9110 §13.1.2), else in the best
   * encoding; at once where that was made before.
   *
   * @param own - headers of this response alone
   */
  send(
    { method, headers }: IncomingMessage,
    outgoing: ServerResponse,
    own: HeaderList = [],
  ): number | Promise<number> {
    const finish = ({ status, fields, bytes, etag }: Encoded) => {
      if (status === 200 && matchesEtag(headers["if-none-match"], etag)) {
        const kept = without(fields, "content-encoding", "content-length");
        outgoing.writeHead(304, [...kept, ...own]).end();
        return 304;
      }
      outgoing.writeHead(status, [...fields, ...own]).end(method === "HEAD" ? "" : bytes, "latin1");
      return status;
    };
    const encoded = this.encoded(chooseEncoding(this.answer, headers["accept-encoding"]));
    return encoded instanceof Promise ? encoded.then(finish) : finish(encoded);
  }

  /** In this encoding, made once. One that could not be made is made anew by the next request. */
  private encoded(encoding: Encoding): Encoded | Promise<Encoded> {
    const known = this.made.get(encoding);
    if (known) return known;
    const etag = encoding === "identity" ? `"${this.hash}"` : `"${this.hash}-${encoding}"`;
    const making = this.make(this.answer, encoding).then(({ status, fields, content }) => {
      const bytes = content.length <= maxTextBytes ? content.toString("latin1") : content;
      const made = { status, etag, fields: ["etag", etag, ...fields], bytes };
      this.made.set(encoding, made);
      return made;
    });
    this.made.set(encoding, making);
    making.catch(() => this.made.delete(encoding));
    return making;
  }
}
