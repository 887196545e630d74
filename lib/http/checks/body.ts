import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { bodyPieces, inKibibytes } from "@/lib/config/limits";
import { ApiError } from "@/lib/http/errors";
import { GrowingBuffer } from "@/lib/http/growing-buffer";
import { IncomingRequest } from "@/lib/http/incoming-request";

/**
 * Reads the whole body of a request. Throws an {@link ApiError}: 413 if `Content-Length` or the bytes so far exceed the
 * limit; 400 if the body is cut short, or arrives in too many small pieces.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  if (request instanceof IncomingRequest) return collect(request.inviteBody(), maxBytes);
  // Nothing is read ahead of what is asked for.
  const read = (body: ReadableStream) => collect(Readable.fromWeb(body, { highWaterMark: 0 }), maxBytes);
  return request.body ? read(request.body as ReadableStream) : Buffer.alloc(0);
}

/** Whether a body arrives in too many small pieces: each costs more memory and time than its bytes. */
export function areTooSmall(pieces: number, bytes: number): boolean {
  return pieces > bodyPieces.any + bytes / bodyPieces.bytesForOneMore;
}

/** Reads a stream at a third of the cost of its iterator. After a refusal the rest stays unread, and the stream open. */
function collect(stream: Readable & { hasTooSmallPieces?: boolean }, maxBytes: number): Promise<Buffer> {
  const body = new GrowingBuffer(maxBytes);
  let pieces = 0;
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      const length = body.length + chunk.length;
      if (stream.hasTooSmallPieces ?? areTooSmall(++pieces, length)) refuse(piecesTooSmall());
      else if (length > maxBytes) refuse(tooLarge(maxBytes));
      else body.append(chunk);
    };
    const refuse = (why: ApiError) => {
      stream.off("data", take).off("end", finish).off("close", breakOff).pause();
      reject(why);
    };
    const finish = () => {
      stream.off("close", breakOff);
      resolve(body.bytes);
    };
    const breakOff = () =>
      reject(new ApiError("invalid_request", { message: "The body did not arrive whole." }));
    if (stream.destroyed) return breakOff();
    stream.on("data", take).on("end", finish).on("close", breakOff).on("error", breakOff);
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
