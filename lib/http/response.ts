import { Readable } from "node:stream";
import type { Call } from "@/lib/http/call";
import { defaultHeaders } from "@/lib/http/default-headers";
import type { ApiError } from "@/lib/http/errors";
import { logRequest } from "@/lib/http/request-log";
import type { Route } from "@/lib/http/route";
import { isInParts } from "@/lib/runtime/json-text";

/** Names and values alternately, as Node accepts them: 40 times as fast as an object with computed keys. */
export type HeaderList = readonly string[];

/** The parts of a response, before {@link finalizeResponse} adds the default headers. */
export type ResponseParts = {
  status: number;
  /**
   * An object is sent as JSON, a string as plain text, bytes as they are, `null` as no content; and texts of an iterable while
   * they are read, so that what can be long is never in memory as a whole.
   */
  body: object | string | null | AsyncIterable<string>;
  /** The media type of a string that is not plain text. */
  mediaType?: string;
  headers?: HeaderList;
  /** `Cache-Control`; by default that of the route. */
  caching?: string;
};

/** Renders a refusal, or an unexpected failure. */
export type Explain = (error: ApiError, call: Call) => ResponseParts | Promise<ResponseParts>;

/** A finished answer, as our server sends it; one in parts has no other content. */
export type Answer = {
  status: number;
  fields: HeaderList;
  content: string | Buffer | null;
  parts?: AsyncIterable<string> | undefined;
};

/** Answers a request: at once if nothing has to be waited for. */
export type Answering = (call: Call) => Answer | Promise<Answer>;

/**
 * Finishes the answer to every request, refusals included: adds the default headers, and logs the request, also if its
 * client has left meanwhile.
 *
 * @param route - whose headers it has; those of the API without one
 */
export function finalizeResponse(call: Call, route: Route | undefined, parts: ResponseParts): Answer {
  const { status, body, mediaType, headers = [] } = parts;
  const isFresh = status === 200 || status === 304;
  const ofRoute = parts.caching ?? (isFresh ? route?.caching : undefined) ?? "no-store";
  // What proxies write into pages needs scripts that our policy forbids: Cloudflare makes each email "[email protected]".
  const caching = mediaType?.startsWith("text/html") ? `${ofRoute}, no-transform` : ofRoute;
  if (!call.isOwn) logRequest(call, status);
  // One array that grows: spreads cost as much as all checks.
  const fields = defaultHeaders(route).slice();
  fields.push("cache-control", caching);
  // Not on what shared caches keep: the id belongs to one client.
  if (!caching.startsWith("public")) fields.push("x-request-id", call.requestId);
  fields.push(...call.quotaHeaders, ...headers);
  const isHead = call.method === "HEAD"; // gets only the headers (RFC 9110 §9.3.2)
  if (isInParts<string>(body)) {
    fields.push("content-type", mediaType ?? "text/plain; charset=utf-8");
    return { status, fields, content: null, parts: isHead ? undefined : body };
  }
  let content: Answer["content"] = null;
  if (body !== null) {
    const isText = typeof body === "string";
    content = isText || body instanceof Buffer ? body : JSON.stringify(body);
    const type = mediaType ?? (isText ? "text/plain; charset=utf-8" : "application/json");
    fields.push("content-type", type, "content-length", String(Buffer.byteLength(content)));
  } else if (status !== 204 && status !== 304) {
    fields.push("content-length", "0");
  }
  return { status, fields, content: isHead ? null : content };
}

/** The response to a refusal: its status, and the ApiError in JSON. */
export function errorParts(error: ApiError): ResponseParts {
  return { status: error.status, body: error.toJSON(), headers: Object.entries(error.headers).flat() };
}

/** A refusal in words, for a person. */
export function inPlainText(error: ApiError): ResponseParts {
  return { ...errorParts(error), body: `${error.message}\n` };
}

/** The Response that a platform gets of an answer. */
export function toResponse({ status, fields, content, parts }: Answer): Response {
  const headers = new Headers();
  for (let at = 0; at < fields.length; at += 2) headers.append(fields[at] ?? "", fields[at + 1] ?? "");
  const body = parts ? Readable.toWeb(Readable.from(parts, { objectMode: false })) : content;
  return new Response(body as BodyInit | null, { status, headers });
}
