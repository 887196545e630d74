import { ApiError } from "@/lib/api/errors";
import { inKibibytes } from "@/lib/settings/limits";

/**
 * The body of a request, read to its end. Throws an {@link ApiError}: 413 as soon as it is over the bound, counted
 * as it comes and whatever Content-Length said; 400 when it breaks off.
 */
export async function readBody({ body }: Request, mostBytes: number): Promise<Buffer> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = await reader?.read().catch(() => {
      throw new ApiError("invalid_request", { message: "The body did not arrive whole." });
    });
    if (!chunk || chunk.done) return Buffer.concat(chunks);
    bytes += chunk.value.byteLength;
    if (bytes > mostBytes) {
      const message =
        mostBytes > 0 ? `The body is over ${inKibibytes(mostBytes)}.` : "No body is taken here.";
      throw new ApiError("too_large", { message });
    }
    chunks.push(chunk.value);
  }
}
