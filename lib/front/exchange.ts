import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

/** The Headers of a Node request. */
export function toHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (Array.isArray(value)) for (const item of value) headers.append(name, item);
    else if (value !== undefined) headers.set(name, value);
  }
  return headers;
}

/** The Request of a Node request; its body is read from the socket as the handler asks for it. */
export function toRequest(incoming: IncomingMessage, url: string, headers: Headers): Request {
  const method = incoming.method ?? "GET";
  if (method === "GET" || method === "HEAD" || method === "OPTIONS")
    return new Request(url, { method, headers });
  const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
  return new Request(url, {
    method,
    headers,
    body: body as unknown as BodyInit,
    duplex: "half",
  } as RequestInit);
}

/** Sends a Response. A connection whose request was not read to its end is closed after it. */
export async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const content = response.body ? Buffer.from(await response.arrayBuffer()) : undefined;
  outgoing.shouldKeepAlive &&= incoming.complete;
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(content);
}
