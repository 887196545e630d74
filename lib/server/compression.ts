import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { weightsOf } from "@/lib/http/accept-header";
import type { Answer, HeaderList } from "@/lib/http/response";
import { RecentCache } from "@/lib/runtime/recent-cache";

export type Encoding = "br" | "gzip" | "identity";

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };

const minCompressedBytes = 1024; // less fits into one packet anyway

const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** An answer that is sent once, compressed in an encoding that the client takes and at a level that costs little. */
export async function compressOnce(answer: Answer, accepted: string | undefined): Promise<Answer> {
  return answer.content === null ? answer : encode(answer, chooseEncoding(answer, accepted), quickly);
}

/** An answer in an encoding. */
export async function encode(
  answer: Answer,
  encoding: Encoding,
  ofBrotli = {},
): Promise<Answer & { content: Buffer }> {
  const plain = answer.content instanceof Buffer ? answer.content : Buffer.from(answer.content ?? "");
  const isPlain = encoding === "identity";
  const content = isPlain ? plain : await compress[encoding](plain, encoding === "br" ? ofBrotli : {});
  const fields = [...without(answer.fields, "content-length"), "content-length", String(content.length)];
  if (isCompressible(answer)) fields.push("vary", "Accept-Encoding");
  if (!isPlain) fields.push("content-encoding", encoding);
  return { status: answer.status, fields, content };
}

/** Header fields without those of these names. */
export function without(fields: HeaderList, ...names: string[]): HeaderList {
  return fields.filter((_, at) => !names.includes(fields[at - (at % 2)] ?? ""));
}

function isCompressible({ fields, content }: Answer): boolean {
  const type = fields[fields.indexOf("content-type") + 1] ?? "";
  return (content?.length ?? 0) >= minCompressedBytes && /^text\/|json|javascript|xml/.test(type);
}

// Browsers send few different fields, and to read one costs as much as to answer from memory.
const preferred = new RecentCache<Encoding>(100);
const maxKeptCharacters = 100;

/** The client's preferred encoding among ours (RFC 9110 §12.5.3). */
export function chooseEncoding(answer: Answer, accepted = ""): Encoding {
  if (!isCompressible(answer)) return "identity";
  const known = preferred.get(accepted);
  if (known) return known;
  const best = readPreferred(accepted);
  if (accepted.length <= maxKeptCharacters) preferred.set(accepted, best);
  return best;
}

/** Whether a client takes gzip. */
export const takesGzip = (accepted = "") => weightIn(weightsOf(accepted), "gzip") > 0;

const weightIn = (weights: Map<string, number>, name: Encoding) => weights.get(name) ?? weights.get("*") ?? 0;

function readPreferred(accepted: string): Encoding {
  const weights = weightsOf(accepted);
  const [br, gzip] = [weightIn(weights, "br"), weightIn(weights, "gzip")];
  if (br > 0 && br >= gzip) return "br";
  return gzip > 0 ? "gzip" : "identity";
}
