import type { Readable } from "node:stream";
import { bodyLimits, bodyPieces, inKibibytes } from "@/lib/config/limits";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { GrowingBuffer } from "@/lib/http/growing-buffer";
import { readInRound } from "@/lib/http/rounds";
import type { Route } from "@/lib/http/route";

/** Reads the body, and refuses in a form the byte that PostgreSQL can store in no text. */
export async function takeBody(call: Call, { takes, origin }: Route): Promise<void> {
  const body = await readInRound(call, readBody(call, takes ? bodyLimits[takes] : 0));
  call.body = body;
  const isForm = origin === "own" && (takes === "form" || takes === "office");
  if (!isForm || (!body.includes(0) && !body.includes("%00"))) return;
  throw new ApiError("invalid_request", { message: "A field of the form contains a NUL." });
}

/**
 * Reads the whole body of a request. Throws an {@link ApiError}: 413 if `Content-Length` or the bytes so far exceed the
 * limit; 400 if the body is cut short, or arrives in too many small pieces.
 */
export async function readBody(call: Call, maxBytes: number): Promise<Buffer> {
  if (Number(call.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  const body = call.openBody();
  return body ? collect(body, maxBytes) : Buffer.alloc(0);
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
