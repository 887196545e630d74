import type { ServerResponse } from "node:http";
import type { Answer } from "@/lib/http/response";
import type { JoinedMessage } from "@/lib/server/joined-message";

/** Closes the connection after the response if the body was not read to its end. */
export function leaveUnread(incoming: JoinedMessage, outgoing: ServerResponse): void {
  if (incoming.hasBody && !incoming.complete) outgoing.shouldKeepAlive = false;
}

/** Sends an answer, at once if it is there. */
export function send(
  answer: Answer | Promise<Answer>,
  incoming: JoinedMessage,
  outgoing: ServerResponse,
): Promise<void> | undefined {
  const finish = ({ status, fields, content }: Answer) => {
    leaveUnread(incoming, outgoing);
    outgoing.writeHead(status, fields as string[]).end(content);
  };
  if (answer instanceof Promise) return answer.then(finish);
  // A body that came with the head is complete once the parser has gone on.
  if (incoming.hasBody) return Promise.resolve(answer).then(finish);
  finish(answer);
  return undefined;
}
