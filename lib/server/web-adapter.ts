import type { IncomingMessage, ServerResponse } from "node:http";
import type { RouteHandler } from "@/lib/http/handler";
import type { IncomingRequest } from "@/lib/http/incoming-request";
import type { Answer } from "@/lib/http/response";

/** Asks a route handler, which answers a request of our own server without making a Response. */
export function ask(handler: RouteHandler, request: IncomingRequest): Promise<Answer> {
  return handler(request as unknown as Request) as Promise<unknown> as Promise<Answer>;
}

/** Closes the connection after the response if the body was not read to its end. */
export function leaveUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (hasBody(incoming) && !incoming.complete) outgoing.shouldKeepAlive = false;
}

/** Sends an answer. */
export function send(
  { status, fields, content }: Answer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  leaveUnread(incoming, outgoing);
  outgoing.writeHead(status, fields as string[]).end(content);
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
