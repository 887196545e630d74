import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { refuseAtDoor } from "@/lib/api/door";
import { ApiError } from "@/lib/api/errors";
import { leave, refusal } from "@/lib/api/headers";
import { beginVisit } from "@/lib/api/visit";
import { allowedAtAll, headTooLarge } from "@/lib/front/head";
import { type ParseError, readRequestLine, takeRequestLine, withPlainTarget } from "@/lib/front/request-line";
import { ResumedConnection } from "@/lib/front/resumed-connection";
import { pathOf } from "@/lib/front/target";

/** A socket, and the answer that is being written to it. */
type Connection = Socket & { _httpMessage?: ServerResponse | null };

const noHeaders = new Headers();
const givenUp = new WeakSet<Socket>();

/**
 * Answers what Node's parser gave up on, after the requests before it, and closes the connection: headers over the
 * bound, a request too slow, a method that Node does not know in an otherwise readable request line, or bytes that
 * are no request. A target with bytes that do not belong there is read again, as the address that it is.
 */
export function answerUnreadable(error: ParseError, socket: Connection, server: Server): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  // The parser says so again with every packet that follows.
  if (givenUp.has(socket)) return;
  givenUp.add(socket);
  const bytes = requestLineErrors.has(error.code ?? "") ? takeRequestLine(error, socket) : undefined;
  afterAnswers(socket, async () => {
    const line = (await bytes) ?? Buffer.alloc(0);
    const plain = error.code === "HPE_INVALID_URL" ? withPlainTarget(line) : undefined;
    if (plain) server.emit("connection", new ResumedConnection(socket, plain));
    else endWith(socket, answerTo(error, line));
  });
}

/** Answers CONNECT, which Node hands over with the bare socket: we are no proxy. */
export function refuseConnect(incoming: IncomingMessage, socket: Connection): void {
  const path = pathOf(incoming.url ?? "");
  const refused = (path.startsWith("/") && refuseAtDoor("CONNECT", path, noHeaders)) || notAllowed(path);
  afterAnswers(socket, () => endWith(socket, refused));
}

function notAllowed(path: string): Response {
  const error = new ApiError("method_not_allowed", { headers: { allow: allowedAtAll } });
  return leave(undefined, beginVisit("CONNECT", path, noHeaders), refusal(error));
}

const requestLineErrors = new Set([
  "HPE_INVALID_METHOD",
  "HPE_INVALID_CONSTANT",
  "HPE_INVALID_URL",
  "HPE_INVALID_VERSION",
]);

/** Waits until the requests that came whole are answered; a body that broke off is answered for at once. */
function afterAnswers(socket: Connection, next: () => void): void {
  const answer = socket._httpMessage;
  if (answer?.req.complete) answer.once("close", () => afterAnswers(socket, next));
  // Once an answer is on its way, a second one would end up inside it.
  else if (!socket.writable || answer?.headersSent) socket.destroy();
  else next();
}

async function endWith(socket: Socket, response: Response): Promise<void> {
  socket.on("error", () => socket.destroy());
  socket.end(await serialize(response));
}

function answerTo(error: ParseError, bytes: Buffer): Response {
  const line = readRequestLine(bytes);
  const path = line && pathOf(line.target);
  const refused = line && path?.startsWith("/") && refuseAtDoor(line.method, path, noHeaders);
  if (refused) return refused;
  const method = line?.method ?? methodOf(error);
  const refuse = (apiError: ApiError) =>
    leave(undefined, beginVisit(method, path ?? "", noHeaders), refusal(apiError));
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return refuse(headTooLarge());
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return refuse(
        new ApiError("invalid_request", { status: 408, message: "The request took too long to arrive." }),
      );
    default:
      return refuse(
        new ApiError("invalid_request", { message: "The bytes received are not an HTTP request." }),
      );
  }
}

/** The method of the head that the parser stopped in, if that began in this packet: an answer to HEAD has no body. */
function methodOf({ rawPacket, bytesParsed = 0 }: ParseError): string {
  const read = rawPacket?.subarray(0, bytesParsed).toString("latin1") ?? "";
  const [method = ""] = /^\w+/.exec(read.slice(read.lastIndexOf("\r\n\r\n") + 1).trimStart()) ?? [];
  return method;
}

async function serialize(response: Response): Promise<string> {
  const reason = STATUS_CODES[response.status];
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = `HTTP/1.1 ${response.status} ${reason}\r\n${headers}date: ${new Date().toUTCString()}\r\nconnection: close`;
  return `${head}\r\n\r\n${await response.text()}`;
}
