import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "@/lib/http/response";

/** Closes the connection after the response if the body was not read to its end. */
export function leaveUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (hasBody(incoming) && !incoming.complete) outgoing.shouldKeepAlive = false;
}

/** Sends an answer, at once if it is there. */
export function send(
  answer: Answer | Promise<Answer>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> | undefined {
  const finish = ({ status, fields, content }: Answer) => {
    leaveUnread(incoming, outgoing);
    outgoing.writeHead(status, fields as string[]).end(content);
  };
  if (answer instanceof Promise) return answer.then(finish);
  // A body that came with the head is complete once the parser has gone on.
  if (hasBody(incoming)) return Promise.resolve(answer).then(finish);
  finish(answer);
  return undefined;
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
