import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { refuseAtDoor } from "@/lib/api/door";
import { ApiError } from "@/lib/api/errors";
import { leave, refusal } from "@/lib/api/headers";
import { beginVisit } from "@/lib/api/visit";
import { connectionLimits, inKibibytes } from "@/lib/settings/limits";

type ParseError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number };

const headersTooLarge = `The headers are over ${inKibibytes(connectionLimits.maxHeaderSize)}.`;
const noHeaders = new Headers();

/**
 * Answers what Node's parser gave up on, in our shape, and closes the connection: headers over the bound,
 * a request too slow, a made-up verb in an otherwise readable request line, or bytes that are no request.
 */
export function answerUnreadable(
  error: ParseError,
  socket: Duplex & { _httpMessage?: { headersSent: boolean } | null },
): void {
  // Once an answer is on its way, a second one would end up inside it.
  if (!socket.writable || error.code === "ECONNRESET" || socket._httpMessage?.headersSent) socket.destroy();
  else endWith(socket, answerTo(error));
}

/** Answers CONNECT, which Node hands over with the bare socket: we are no proxy. */
export function refuseConnect(incoming: IncomingMessage, socket: Duplex): void {
  const refused = refuseAtDoor("CONNECT", incoming.url ?? "", noHeaders);
  if (refused) endWith(socket, refused);
}

function endWith(socket: Duplex, response: Response): void {
  socket.on("error", () => socket.destroy());
  serialize(response).then((bytes) => socket.end(bytes));
}

function answerTo(error: ParseError): Response {
  const refuse = (apiError: ApiError) => leave(undefined, beginVisit("", "", noHeaders), refusal(apiError));
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return refuse(new ApiError("too_large", { status: 431, message: headersTooLarge }));
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return refuse(
        new ApiError("invalid_request", { status: 408, message: "The request took too long to arrive." }),
      );
    case "HPE_INVALID_METHOD": {
      const line = readRequestLine(error);
      const refused = line && refuseAtDoor(line.method, line.path, noHeaders);
      if (refused) return refused;
    }
  }
  return refuse(new ApiError("invalid_request", { message: "The bytes received are not an HTTP request." }));
}

/** The request line that the parser stopped in: a token (RFC 9110 §5.6.2), a path, and HTTP/1.x. */
function readRequestLine({ rawPacket, bytesParsed = 0 }: ParseError) {
  const text = rawPacket?.toString("latin1") ?? "";
  const lineStart = text.lastIndexOf("\n", Math.max(0, bytesParsed - 1)) + 1;
  const line = /^([\w!#$%&'*+.^`|~-]+) (\/[^ ?]*)(?:\?[^ ]*)? HTTP\/1\.[01]\r?\n/.exec(text.slice(lineStart));
  return line?.[1] && line[2] ? { method: line[1], path: line[2] } : undefined;
}

async function serialize(response: Response): Promise<string> {
  const reason = STATUS_CODES[response.status];
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = `HTTP/1.1 ${response.status} ${reason}\r\n${headers}date: ${new Date().toUTCString()}\r\nconnection: close`;
  return `${head}\r\n\r\n${await response.text()}`;
}
