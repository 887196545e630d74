import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "@/lib/http/response";
import type { Client } from "@/lib/rate-limit/client";
import { paceRefusal } from "@/lib/server/refusal-pace";

/** Closes the connection after the response if the body was not read to its end. */
export function leaveUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (hasBody(incoming) && !incoming.complete) outgoing.shouldKeepAlive = false;
}

/** Sends an answer; a refusal in the pace of its client's network. */
export async function send(
  { status, fields, content }: Answer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  client: Client,
): Promise<void> {
  if (status >= 400) await paceRefusal(client);
  leaveUnread(incoming, outgoing);
  outgoing.writeHead(status, fields as string[]).end(content);
}

/** Whether a body follows the headers (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
