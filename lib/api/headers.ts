import type { ApiError } from "@/lib/api/errors";
import type { Operation } from "@/lib/api/operations";
import { retirementHeaders } from "@/lib/api/retirement";
import { settings } from "@/lib/settings";

/** What a room or a refusal has to say, before the way out makes a Response of it. */
export type Answer = {
  status: number;
  /** An object goes out as JSON, a string as plain text, `null` as no content. */
  body: object | string | null;
  headers?: Record<string, string>;
};

/** As much of a request as its answer depends on. A Request will do; it cannot hold a TRACE. */
export type Asked = Pick<Request, "method" | "headers">;

/**
 * The way out: makes the Response of an answer and stamps it. Every answer under `/api` leaves here.
 *
 * @param operation - the operation it belongs to; none for a 404
 * @param asked - its method says whether a body is sent (RFC 9110 §9.3.2), its headers name the request
 */
export function leave(operation: Operation | undefined, asked: Asked, answer: Answer): Response {
  const headers: Record<string, string> = { ...stampOf(operation) };
  headers["x-request-id"] = requestId(asked);
  headers["cache-control"] = answer.status === 200 && operation ? operation.caching : "no-store";
  let content: string | null = null;
  if (answer.body !== null) {
    content = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    headers["content-type"] =
      typeof answer.body === "string" ? "text/plain; charset=utf-8" : "application/json";
    headers["content-length"] = String(Buffer.byteLength(content));
  }
  Object.assign(headers, answer.headers);
  return new Response(asked.method === "HEAD" ? null : content, { status: answer.status, headers });
}

/** The answer to a refusal: its status, body and headers, and those gathered before it was thrown. */
export function refusal(error: ApiError, gathered: Record<string, string> = {}): Answer {
  return { status: error.status, body: error.toJSON(), headers: { ...gathered, ...error.headers } };
}

const saneRequestId = /^[\w.:-]{1,128}$/;
const requestIds = new WeakMap<Asked, string>();

/** The request's own `X-Request-Id` when it is sane, else a new one; the same for a request each time. */
export function requestId(asked: Asked): string {
  let id = requestIds.get(asked);
  if (!id) {
    const sent = asked.headers.get("x-request-id");
    id = sent && saneRequestId.test(sent) ? sent : crypto.randomUUID();
    requestIds.set(asked, id);
  }
  return id;
}

const exposedHeaders = "API-Version, Deprecation, Link, Sunset, X-Request-Id";
const stamps = new Map<Operation | undefined, Record<string, string>>();

/** The headers that do not vary between the answers of an operation, made once. */
function stampOf(operation: Operation | undefined): Record<string, string> {
  const known = stamps.get(operation);
  if (known) return known;
  const { appUrl } = settings();
  const stamp: Record<string, string> = {
    "api-version": "1",
    link: `<${appUrl}/docs/api/policy>; rel="deprecation"; type="text/html"`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  };
  if (appUrl.startsWith("https:")) stamp["strict-transport-security"] = "max-age=31536000";
  if (operation?.retirement) {
    const { deprecation, sunset, guideLink } = retirementHeaders(operation.retirement, appUrl);
    Object.assign(stamp, { deprecation, sunset, link: `${stamp.link}, ${guideLink}` });
  }
  if (operation?.anyOrigin) {
    stamp["access-control-allow-origin"] = "*";
    stamp["access-control-expose-headers"] = exposedHeaders;
    stamp.vary = "API-Version";
  }
  stamps.set(operation, stamp);
  return stamp;
}
