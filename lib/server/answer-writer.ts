import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Answer } from "@/lib/http/response";
import { log } from "@/lib/runtime/log";
import { takesGzip } from "@/lib/server/compression";
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
  const finish = (answer: Answer) => {
    leaveUnread(incoming, outgoing);
    const { status, fields, content, parts } = answer;
    if (parts) return sendParts(answer, parts, incoming, outgoing);
    outgoing.writeHead(status, fields as string[]).end(content);
    return undefined;
  };
  if (answer instanceof Promise) return answer.then(finish);
  // A body that came with the head is complete once the parser has gone on.
  if (incoming.hasBody) return Promise.resolve(answer).then(finish);
  return finish(answer);
}

/** Sends a text while it is read, as fast as its client takes it. Where it breaks off, so does the connection. */
async function sendParts(
  { status, fields }: Answer,
  parts: AsyncIterable<string>,
  { headers }: JoinedMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const encoding = takesGzip(headers["accept-encoding"]) ? ["content-encoding", "gzip"] : [];
  outgoing.writeHead(status, [...fields, "vary", "Accept-Encoding", ...encoding]);
  const text = Readable.from(parts);
  const sent = encoding.length > 0 ? pipeline(text, createGzip(), outgoing) : pipeline(text, outgoing);
  await sent.catch((failure) => {
    if (failure.code !== "ERR_STREAM_PREMATURE_CLOSE") log().error({ err: failure }, "a file broke off");
  });
}
