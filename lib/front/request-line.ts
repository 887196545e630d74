import type { Socket } from "node:net";
import { connectionLimits, headBounds } from "@/lib/settings/limits";

/** What Node says of a request that its parser gave up on. */
export type ParseError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number };

/** A token (RFC 9110 §5.6.2), a target without blanks, and a version of HTTP that Node's parser takes. */
const requestLine = /^([\w!#$%&'*+.^`|~-]+) ([^ \t\r\n\v\f]+) HTTP\/(?:0\.9|1\.[01]|2\.0)\r?\n/;

/** The request line that these bytes begin with. */
export function readRequestLine(bytes: Buffer): { method: string; target: string } | undefined {
  const [, method, target] = requestLine.exec(bytes.toString("latin1")) ?? [];
  return method && target ? { method, target } : undefined;
}

/**
 * These bytes, with what does not belong in their target percent-encoded (RFC 3986 §2.1): bytes of 0x80 and above, as
 * they are sent by who types an `é`, and control characters. `undefined` when there is nothing to encode.
 */
export function withPlainTarget(bytes: Buffer): Buffer | undefined {
  const { method = "", target = "" } = readRequestLine(bytes) ?? {};
  const plain = target.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
    /[\x00-\x1f\x7f-\xff]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  if (plain === target) return undefined;
  const targetAt = method.length + 1;
  return Buffer.concat([
    bytes.subarray(0, targetAt),
    Buffer.from(plain),
    bytes.subarray(targetAt + target.length),
  ]);
}

/**
 * Takes a connection from the parser that gave up on its request line: the bytes from that line's start, which have
 * the whole of it, unless it does not come in time or in bounds. What follows stays in the socket.
 */
export function takeRequestLine(error: ParseError, socket: Socket): Promise<Buffer> {
  const { rawPacket = Buffer.alloc(0), bytesParsed = 0 } = error;
  const startsAt = rawPacket.lastIndexOf("\n", Math.max(0, bytesParsed - 2)) + 1;
  let bytes = withoutEmptyLines(rawPacket.subarray(startsAt));
  const isEnough = () => bytes.includes("\n") || bytes.length > headBounds.bytes;
  socket.removeAllListeners("data");
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(deadline);
      socket.off("data", gather).off("close", settle).pause();
      resolve(bytes);
    };
    const gather = (chunk: Buffer) => {
      bytes = withoutEmptyLines(Buffer.concat([bytes, chunk]));
      if (isEnough()) settle();
    };
    const deadline = setTimeout(settle, connectionLimits.headersTimeout);
    socket.on("data", gather).once("close", settle);
    if (isEnough()) settle();
  });
}

/** A server skips empty lines before a request (RFC 9112 §2.2). */
function withoutEmptyLines(bytes: Buffer): Buffer {
  const isBreak = (byte: number) => byte === 0x0d || byte === 0x0a;
  const from = bytes.findIndex((byte) => !isBreak(byte));
  return from === -1 ? Buffer.alloc(0) : bytes.subarray(from);
}
