import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "@/lib/http/response";
import type { Client } from "@/lib/rate-limit/client";
import { paceRefusal } from "@/lib/server/refusal-pace";

/** Closes the connection after the response if the body was not read to its end. */
export function leaveUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (hasBody(incoming) && !incoming.complete) outgoing.shouldKeepAlive = false;
}

/** Sends an answer, at once if it is there; a refusal in the pace of its client's network. */
export function send(
  answer: Answer | Promise<Answer>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  client: Client,
): Promise<void> | undefined {
  const finish = (made: Answer) => {
    const pause = made.status < 400 ? undefined : paceRefusal(client);
    if (pause) return pause.then(() => write(made, incoming, outgoing));
    return write(made, incoming, outgoing);
  };
  if (answer instanceof Promise) return answer.then(finish);
  // A body that came with the head is complete once the parser has gone on.
  return hasBody(incoming) ? Promise.resolve(answer).then(finish) : finish(answer);
}

function write({ status, fields, content }: Answer, incoming: IncomingMessage, outgoing: ServerResponse) {
  leaveUnread(incoming, outgoing);
  outgoing.writeHead(status, fields as string[]).end(content);
  return undefined;
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
