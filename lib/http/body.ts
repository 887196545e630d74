import { bodyPieces, inKibibytes } from "@/lib/config/limits";
import { ApiError } from "@/lib/http/errors";
import { GrowingBuffer } from "@/lib/http/growing-buffer";
import { type IncomingBody, IncomingRequest } from "@/lib/http/incoming-request";

/**
 * Reads the whole body of a request. Throws an {@link ApiError}: 413 if `Content-Length` or the bytes so far exceed the
 * limit; 400 if the body is cut short, or arrives in too many small pieces.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  const received = new Received(maxBytes);
  try {
    await (request instanceof IncomingRequest
      ? collect(request.inviteBody(), received)
      : readStream(request, received));
  } catch (thrown) {
    if (thrown instanceof ApiError) throw thrown;
    throw new ApiError("invalid_request", { message: "The body did not arrive whole." });
  }
  return received.bytes;
}

/** The part of a body that has arrived. */
class Received {
  private readonly buffer: GrowingBuffer;

  constructor(private readonly maxBytes: number) {
    this.buffer = new GrowingBuffer(maxBytes);
  }

  get bytes(): Buffer {
    return this.buffer.bytes;
  }

  get length(): number {
    return this.buffer.length;
  }

  /** Appends a chunk, or returns the reason why it is too much. */
  add(chunk: Uint8Array): ApiError | undefined {
    if (this.length + chunk.byteLength > this.maxBytes) return tooLarge(this.maxBytes);
    this.buffer.append(chunk);
    return undefined;
  }
}

/** Whether a body arrives in too many small pieces: each costs more memory and time than its bytes. */
export function areTooSmall(pieces: number, bytes: number): boolean {
  return pieces > bodyPieces.any + bytes / bodyPieces.bytesForOneMore;
}

type Chunks = AsyncIterable<Uint8Array>;

async function readStream(request: Request, received: Received): Promise<void> {
  const body = request.body as { values: (options: { preventCancel: true }) => Chunks } | null;
  let pieces = 0;
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    const refused = received.add(chunk);
    if (refused) throw refused;
    if (areTooSmall(++pieces, received.length)) throw piecesTooSmall();
  }
}

/** Reads a stream at a third of the cost of its iterator. After a refusal the rest stays unread, and the stream open. */
function collect(stream: IncomingBody, received: Received): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      const refused = stream.hasTooSmallPieces ? piecesTooSmall() : received.add(chunk);
      if (refused) stop(refused);
    };
    const stop = (refused?: ApiError) => {
      stream.off("data", take).off("end", stop).off("close", breakOff).off("error", breakOff).pause();
      if (refused) reject(refused);
      else resolve();
    };
    const breakOff = () => reject(new Error("the body broke off"));
    if (stream.destroyed) return breakOff();
    stream.on("data", take).on("end", stop).on("close", breakOff).on("error", breakOff);
  });
}

function tooLarge(maxBytes: number): ApiError {
  const message = maxBytes > 0 ? `The body is over ${inKibibytes(maxBytes)}.` : "No body is taken here.";
  return new ApiError("too_large", { message });
}

function piecesTooSmall(): ApiError {
  return new ApiError("invalid_request", {
    message: "The body comes in pieces that are too small.",
    hint: `Send it in chunks of ${bodyPieces.bytesForOneMore} bytes or more, or all at once.`,
  });
}
