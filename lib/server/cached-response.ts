import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { weightsOf } from "@/lib/http/accept-header";
import { hashContent, matchesEtag } from "@/lib/http/etag";
import type { Answer, HeaderList } from "@/lib/http/response";

type Encoding = "br" | "gzip" | "identity";

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };

const minCompressedBytes = 1024; // less fits into one packet anyway

/** A response that is the same for everyone, kept in memory in each encoding, with its `ETag`. */
export class CachedResponse {
  private readonly answer: Answer;
  private readonly hash: string;
  private readonly made = new Map<Encoding, Promise<Answer>>();

  constructor(answer: Answer) {
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
    const made = this.made.get(encoding) ?? encode(this.answer, encoding);
    this.made.set(encoding, made);
    const { status, fields, content } = await made;
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
}

const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** An answer that is sent once, compressed in an encoding that the client takes and at a level that costs little. */
export async function compressOnce(answer: Answer, accepted: string | undefined): Promise<Answer> {
  return answer.content === null ? answer : encode(answer, chooseEncoding(answer, accepted), quickly);
}

async function encode(answer: Answer, encoding: Encoding, ofBrotli = {}): Promise<Answer> {
  const plain = answer.content instanceof Buffer ? answer.content : Buffer.from(answer.content ?? "");
  const isPlain = encoding === "identity";
  const content = isPlain ? plain : await compress[encoding](plain, encoding === "br" ? ofBrotli : {});
  const fields = [...without(answer.fields, "content-length"), "content-length", String(content.length)];
  if (isCompressible(answer)) fields.push("vary", "Accept-Encoding");
  if (!isPlain) fields.push("content-encoding", encoding);
  return { status: answer.status, fields, content };
}

function without(fields: HeaderList, ...names: string[]): HeaderList {
  return fields.filter((_, at) => !names.includes(fields[at - (at % 2)] ?? ""));
}

function isCompressible({ fields, content }: Answer): boolean {
  const type = fields[fields.indexOf("content-type") + 1] ?? "";
  return (content?.length ?? 0) >= minCompressedBytes && /^text\/|json|javascript|xml/.test(type);
}

/** The client's preferred encoding among ours (RFC 9110 §12.5.3). */
function chooseEncoding(answer: Answer, accepted = ""): Encoding {
  if (!isCompressible(answer)) return "identity";
  const weights = weightsOf(accepted);
  const weightOf = (name: Encoding) => weights.get(name) ?? weights.get("*") ?? 0;
  const [br, gzip] = [weightOf("br"), weightOf("gzip")];
  if (br > 0 && br >= gzip) return "br";
  return gzip > 0 ? "gzip" : "identity";
}
