import { ApiError } from "@/lib/api/errors";
import { inKibibytes } from "@/lib/settings/limits";

/**
 * The body of a request, read to its end. Throws an {@link ApiError}: 413 unread when it says that it is over the bound,
 * and as soon as it is, whatever it said; 400 when it breaks off.
 */
export async function readBody(request: Request, mostBytes: number): Promise<Buffer> {
  if (Number(request.headers.get("content-length")) > mostBytes) throw tooLarge(mostBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(request)) {
      bytes += chunk.byteLength;
      if (bytes > mostBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw new ApiError("invalid_request", { message: "The body did not arrive whole." });
  }
  if (bytes > mostBytes) throw tooLarge(mostBytes);
  return Buffer.concat(chunks);
}

/** Where a stand-in has the bytes of its body without a stream of the web's being made for them. */
export const bodyChunks = Symbol("body chunks");

type Chunks = AsyncIterable<Uint8Array>;

/** The bytes as they come. Who stops reading leaves the rest unread: the connection has an answer to carry yet. */
function chunksOf(request: Request & { [bodyChunks]?: () => Chunks }): Chunks | Uint8Array[] {
  if (request[bodyChunks]) return request[bodyChunks]();
  const body = request.body as { values: (options: { preventCancel: true }) => Chunks } | null;
  return body?.values({ preventCancel: true }) ?? [];
}

function tooLarge(mostBytes: number): ApiError {
  const message = mostBytes > 0 ? `The body is over ${inKibibytes(mostBytes)}.` : "No body is taken here.";
  return new ApiError("too_large", { message });
}
