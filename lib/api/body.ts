import type { Readable } from "node:stream";
import { ApiError } from "@/lib/api/errors";
import { inKibibytes } from "@/lib/settings/limits";

/**
 * The body of a request, read to its end. Throws an {@link ApiError}: 413 unread when it says that it is over the bound,
 * and as soon as it is, whatever it said; 400 when it breaks off.
 */
export async function readBody(request: Request, mostBytes: number): Promise<Buffer> {
  if (Number(request.headers.get("content-length")) > mostBytes) throw tooLarge(mostBytes);
  try {
    const bytes = await readBytes(request, mostBytes);
    if (bytes) return bytes;
  } catch {
    throw new ApiError("invalid_request", { message: "The body did not arrive whole." });
  }
  throw tooLarge(mostBytes);
}

/** Where a stand-in has the stream of its body, without one of the web's being made of it. */
export const incomingBody = Symbol("incoming body");

/** The bytes, or `undefined` when they are over the bound. Throws when they break off. */
function readBytes(
  request: Request & { [incomingBody]?: () => Readable },
  mostBytes: number,
): Promise<Buffer | undefined> {
  return request[incomingBody] ? collect(request[incomingBody](), mostBytes) : readStream(request, mostBytes);
}

type Chunks = AsyncIterable<Uint8Array>;

async function readStream(request: Request, mostBytes: number): Promise<Buffer | undefined> {
  const body = request.body as { values: (options: { preventCancel: true }) => Chunks } | null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** As a stream's own iterator would, at a third of the cost: what is over the bound stays unread, and the stream open. */
function collect(stream: Readable, mostBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > mostBytes) stop();
    };
    const stop = () => {
      stream.off("data", take).off("end", stop).off("close", breakOff).off("error", breakOff).pause();
      resolve(bytes > mostBytes ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    };
    const breakOff = () => reject(new Error("the body broke off"));
    if (stream.destroyed) return breakOff();
    stream.on("data", take).on("end", stop).on("close", breakOff).on("error", breakOff);
  });
}

function tooLarge(mostBytes: number): ApiError {
  const message = mostBytes > 0 ? `The body is over ${inKibibytes(mostBytes)}.` : "No body is taken here.";
  return new ApiError("too_large", { message });
}
