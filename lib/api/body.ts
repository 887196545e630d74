import { ApiError } from "@/lib/api/errors";
import { inKibibytes } from "@/lib/settings/limits";

/**
 * The body of a request, read to its end. Throws an {@link ApiError}: 413 unread when it says that it is over the bound,
 * and as soon as it is, whatever it said; 400 when it breaks off.
 */
export async function readBody(request: Request, mostBytes: number): Promise<Buffer> {
  if (Number(request.headers.get("content-length")) > mostBytes) throw tooLarge(mostBytes);
  const reader = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = await reader?.read().catch(() => {
      throw new ApiError("invalid_request", { message: "The body did not arrive whole." });
    });
    if (!chunk || chunk.done) return Buffer.concat(chunks);
    bytes += chunk.value.byteLength;
    if (bytes > mostBytes) throw tooLarge(mostBytes);
    chunks.push(chunk.value);
  }
}

function tooLarge(mostBytes: number): ApiError {
  const message = mostBytes > 0 ? `The body is over ${inKibibytes(mostBytes)}.` : "No body is taken here.";
  return new ApiError("too_large", { message });
}
