import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { headBounds } from "@/lib/config/limits";
import { Call, sourceOf } from "@/lib/http/call";
import { ApiError, tooManyRequests } from "@/lib/http/errors";
import type { Answer } from "@/lib/http/response";
import { publicSite, refuse, rejectUnrouted } from "@/lib/http/router";
import { allowedAtAll, headTooLarge } from "@/lib/server/header-limits";
import { withoutAuthority } from "@/lib/server/request-target";
import { ResumedConnection } from "@/lib/server/resumed-connection";
import { closeInStages } from "@/lib/server/staged-close";

/** Node's error for a request that its parser rejected. */
type ParseError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number };

const requestLineErrors = new Set([
  "HPE_INVALID_METHOD",
  "HPE_INVALID_CONSTANT",
  "HPE_INVALID_URL",
  "HPE_INVALID_VERSION",
]);

/** A token (RFC 9110 §5.6.2), a target without blanks, and an HTTP version that Node's parser accepts. */
const requestLine = /^([\w!#$%&'*+.^`|~-]+) ([^ \t\r\n\v\f]+) HTTP\/(?:0\.9|1\.[01]|2\.0)\r?\n/;

/** An incomplete line that can still become a request line. */
const beginningOfLine = /^[\w!#$%&'*+.^`|~-]+(?: [^ \t\r\n\v\f]*(?: [\w/.]*\r?)?)?$/;

const rejected = new WeakSet<Socket>();
const partialLines = new WeakMap<Socket, string>();

/**
 * Answers a request that Node's parser rejected, after the requests before it, and closes the connection: unknown
 * address (404), method not accepted (405), headers too large (431), too slow (408), or not an HTTP request (400). One
 * whose query has bytes of 0x80 and above is read again with these percent-encoded, as the last of its connection.
 *
 * @param latest - the response to the latest request of this connection, until it is sent
 * @param resume - reads the connection again
 */
export function answerClientError(
  error: ParseError,
  socket: Socket,
  latest: ServerResponse | undefined,
  resume: (connection: ResumedConnection) => void,
): void {
  // The parser fails again with every later packet and when the connection ends.
  if (!socket.writable || rejected.has(socket)) return;
  const head = headOf(error, socket);
  if (isOfRequestLine(error) && beginningOfLine.test(head) && head.length <= headBounds.bytes) {
    partialLines.set(socket, head);
    return;
  }
  rejected.add(socket);
  const encoded = socket instanceof ResumedConnection ? undefined : encodeQuery(head);
  if (encoded) {
    socket.pause();
    afterAnswers(socket, latest, () => resume(new ResumedConnection(socket, encoded)));
  } else endWith(socket, latest, answerTo(error, head));
}

/**
 * Refuses a request for which Node passes the bare socket, after the requests before it: CONNECT, because we are not a
 * proxy (405, or 404), and one behind a full pipeline (429).
 */
export function refuseUpgrade(
  { method = "", url = "", socket }: IncomingMessage,
  latest?: ServerResponse,
): void {
  socket.on("error", () => socket.destroy());
  const call = callOf(method, url);
  const unrouted = call.path.startsWith("/") ? rejectUnrouted(call) : undefined;
  const refused = method === "CONNECT" ? notAllowed() : tooManyRequests();
  endWith(socket, latest, refuse(call, unrouted ?? refused));
}

/** A request of which no more than its first line is known. */
const callOf = (method: string, target: string) =>
  new Call(sourceOf(method, withoutAuthority(target)), publicSite);

const notAllowed = () => new ApiError("method_not_allowed", { headers: { allow: allowedAtAll } });

/** These bytes with those of the query percent-encoded; `undefined` if that does not make a request of them. */
function encodeQuery(head: string): Buffer | undefined {
  const [line, , target = ""] = requestLine.exec(head) ?? [];
  if (!line || !/^[!->@-~]*\?[!-~]*[\x80-\xff]/.test(target)) return undefined;
  const encoded = target.replace(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const first = line.replace(target, () => encoded);
  return Buffer.from(`${first}Connection: close\r\n${head.slice(line.length)}`, "latin1");
}

function isOfRequestLine({ code = "" }: ParseError): boolean {
  return requestLineErrors.has(code);
}

/** The rejected head, as far as this packet contains it: Node does not keep earlier packets. */
function headOf(error: ParseError, socket: Socket): string {
  const packet = error.rawPacket?.toString("latin1") ?? "";
  const partial = partialLines.get(socket);
  if (partial !== undefined) return partial + packet;
  const endOfPrevious = isOfRequestLine(error) ? "\n" : "\r\n\r\n";
  const endsAt = packet.lastIndexOf(endOfPrevious, Math.max(0, (error.bytesParsed ?? 0) - 2));
  // A server ignores empty lines before a request (RFC 9112 §2.2).
  return packet.slice(endsAt === -1 ? 0 : endsAt).replace(/^[\r\n]+/, "");
}

/** Waits until the complete requests before it are answered. A request with an incomplete body is not waited for. */
function afterAnswers(socket: Socket, latest: ServerResponse | undefined, next: () => void): void {
  const proceed = () => afterAnswers(socket, undefined, next);
  if (!latest || latest.closed) {
    if (socket.writable) next();
  } else if (latest.req.complete || latest.writableEnded) latest.once("close", proceed);
  // Node gives a response its socket when all responses before it are sent.
  else if (!latest.socket) latest.once("socket", () => afterAnswers(socket, latest, next));
  // A second response would be written into the body of this one.
  else if (latest.headersSent) socket.destroy();
  else next();
}

/** Sends the last response of a connection, after the others. */
function endWith(socket: Socket, latest: ServerResponse | undefined, answer: Answer): void {
  const end = () => {
    socket.write(serialize(answer));
    closeInStages(socket);
  };
  // The answer to a request that was refused before its body broke is a few promises away.
  setImmediate(() => afterAnswers(socket, latest, end));
}

function answerTo(error: ParseError, head: string): Answer {
  const [, method = /^\w*/.exec(head)?.[0] ?? "", target = ""] = requestLine.exec(head) ?? [];
  const call = callOf(method, target);
  const isRead = isOfRequestLine(error) && call.path.startsWith("/");
  return refuse(call, (isRead && rejectUnrouted(call)) || toApiError(error, call));
}

function toApiError({ code }: ParseError, { path, route }: Call): ApiError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return headTooLarge();
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError("invalid_request", {
        status: 408,
        message: "The request took too long to arrive.",
      });
    case "HPE_INVALID_URL":
      if (path.startsWith("/") && !route) return new ApiError("not_found");
      return new ApiError("invalid_request", {
        message: "The request target has characters that do not belong in one.",
      });
    default:
      return new ApiError("invalid_request", { message: "The bytes received are not an HTTP request." });
  }
}

function serialize({ status, fields, content }: Answer): string {
  const headers = fields.map((field, at) => (at % 2 === 0 ? `${field}: ` : `${field}\r\n`)).join("");
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}date: ${new Date().toUTCString()}\r\nconnection: close`;
  return `${head}\r\n\r\n${content ?? ""}`;
}
