import type { IncomingMessage, ServerResponse } from "node:http";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import type { Answer, HeaderList } from "@/lib/http/response";
import { chooseEncoding, type Encoding, encode, without } from "@/lib/server/compression";

/** A response that is the same for everyone, kept in memory in each encoding, with its `ETag`. */
export class CachedResponse {
  private readonly answer: Answer;
  private readonly hash: string;
  private readonly made = new Map<Encoding, Promise<Answer>>();

  constructor(
    answer: Answer,
    private readonly make = encode,
  ) {
    this.answer = { ...answer, fields: without(answer.fields, "etag", "x-request-id") };
    this.hash = hashContent(answer.content ?? "");
  }

  /**
   * Answers a GET or HEAD, and returns the status: 304 if the client's copy is current (RFC 9110 §13.1.2), else in the best encoding.
   *
   * @param own - headers of this response alone
   */
  async send(
    { method, headers }: IncomingMessage,
    outgoing: ServerResponse,
    own: HeaderList = [],
  ): Promise<number> {
    const encoding = chooseEncoding(this.answer, headers["accept-encoding"]);
    const { status, fields, content } = await this.encoded(encoding);
    const etag = encoding === "identity" ? `"${this.hash}"` : `"${this.hash}-${encoding}"`;
    if (status === 200 && matchesEtag(headers["if-none-match"], etag)) {
      const kept = without(fields, "content-encoding", "content-length");
      outgoing.writeHead(304, ["etag", etag, ...kept, ...own]).end();
      return 304;
    }
    outgoing
      .writeHead(status, ["etag", etag, ...fields, ...own])
      .end(method === "HEAD" ? undefined : content);
    return status;
  }

  /** In this encoding, made once. One that could not be made is made anew by the next request. */
  private encoded(encoding: Encoding): Promise<Answer> {
    const made = this.made.get(encoding) ?? this.make(this.answer, encoding);
    this.made.set(encoding, made);
    made.catch(() => this.made.delete(encoding));
    return made;
  }
}
