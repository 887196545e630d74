import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { weightsOf } from "@/lib/http/accept-header";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import type { Answer, HeaderList } from "@/lib/http/response";

type Encoding = "br" | "gzip" | "identity";

type Representation = { content: Buffer; etag: string; fields: HeaderList };

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };

const minCompressedBytes = 1024; // less fits into one packet anyway

/** A response that is the same for everyone, kept in memory in each encoding, with its `ETag`. */
export class CachedResponse {
  private readonly hash: string;
  private readonly fields: HeaderList;
  private readonly isCompressible: boolean;
  private readonly made = new Map<Encoding, Promise<Representation>>();

  /** @param fields - the headers that do not depend on the encoding, names in lower case */
  constructor(
    private readonly status: number,
    fields: HeaderList,
    private readonly content: Buffer,
  ) {
    this.hash = hashContent(content);
    const type = fields[fields.indexOf("content-type") + 1] ?? "";
    this.isCompressible = content.length >= minCompressedBytes && /^text\/|json|javascript|xml/.test(type);
    this.fields = this.isCompressible ? [...fields, "vary", "Accept-Encoding"] : fields;
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
    const encoding = this.isCompressible ? bestEncoding(headers["accept-encoding"]) : "identity";
    const made = this.made.get(encoding) ?? this.represent(encoding);
    this.made.set(encoding, made);
    const { content, etag, fields } = await made;
    if (this.status === 200 && matchesEtag(headers["if-none-match"], etag)) {
      outgoing.writeHead(304, ["etag", etag, ...this.fields, ...own]).end();
      return 304;
    }
    outgoing.writeHead(this.status, [...fields, ...own]).end(method === "HEAD" ? undefined : content);
    return this.status;
  }

  private async represent(encoding: Encoding): Promise<Representation> {
    const isPlain = encoding === "identity";
    const content = isPlain ? this.content : await compress[encoding](this.content);
    const etag = isPlain ? `"${this.hash}"` : `"${this.hash}-${encoding}"`;
    const about = isPlain ? [] : ["content-encoding", encoding];
    const length = ["content-length", String(content.length)];
    return { content, etag, fields: [...this.fields, ...about, "etag", etag, ...length] };
  }
}

const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** An answer that is sent once, compressed in an encoding that the client takes and at a level that costs little. */
export async function compressOnce(answer: Answer, accepted: string | undefined): Promise<Answer> {
  if (answer.content === null) return answer;
  const plain = Buffer.from(answer.content);
  const encoding = plain.length < minCompressedBytes ? "identity" : bestEncoding(accepted);
  const isPlain = encoding === "identity";
  const content = isPlain ? plain : await compress[encoding](plain, encoding === "br" ? quickly : {});
  const fields = answer.fields.filter((_, at, all) => all[at - (at % 2)] !== "content-length");
  fields.push("content-length", String(content.length), "vary", "Accept-Encoding");
  if (!isPlain) fields.push("content-encoding", encoding);
  return { status: answer.status, fields, content };
}

/** The client's preferred encoding among ours (RFC 9110 §12.5.3). */
function bestEncoding(accepted = ""): Encoding {
  const weights = weightsOf(accepted);
  const weightOf = (name: Encoding) => weights.get(name) ?? weights.get("*") ?? 0;
  const [br, gzip] = [weightOf("br"), weightOf("gzip")];
  if (br > 0 && br >= gzip) return "br";
  return gzip > 0 ? "gzip" : "identity";
}
