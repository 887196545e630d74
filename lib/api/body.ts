import { ApiError } from "@/lib/api/errors";

/**
 * Reads a body to its end. Throws an ApiError: a 413 as soon as it is over the bound, whatever Content-Length
 * said, or a 400 when it breaks off.
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
    if (bytes > mostBytes)
      throw new ApiError("too_large", { message: `The body is over ${mostBytes / 1024} KiB.` });
    chunks.push(chunk.value);
  }
}
