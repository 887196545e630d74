import { randomUUID } from "node:crypto";

/** The facts of a request, for its answer and its log line. */
export type RequestContext = {
  method: string;
  path: string;
  requestId: string;
  /** The trace that the client says the request belongs to. It is only logged. */
  traceId: string | undefined;
  startedAtMs: number;
  /** It is a request of our own, for a page that is kept: it is not logged. */
  isOwn?: boolean;
  subject?: string;
};

export const maxRequestIdCharacters = 128;
/** The `X-Request-Id`s that we accept from a client. */
export const requestIdPattern = new RegExp(`^[\\w.:-]{1,${maxRequestIdCharacters}}$`);

/**
 * A `traceparent` and its trace id (W3C Trace Context §3.2). Version 00 has no more than these fields; later versions may
 * append others, and `ff` is not a version.
 */
const traceparentPattern =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)[\da-f]{16}-[\da-f]{2}(?:-[^,]*)?$/;

/** Creates the context of a request, with its own `X-Request-Id` if that is valid, else with a new one. */
export function createRequestContext(
  method: string,
  path: string,
  headers: Pick<Headers, "get">,
): RequestContext {
  const sent = headers.get("x-request-id");
  const requestId = sent && requestIdPattern.test(sent) ? sent : randomUUID();
  const traceId = traceIdOf(headers.get("traceparent"));
  return { method, path, requestId, traceId, startedAtMs: performance.now() };
}

/** The trace id of a `traceparent`, which may be anything that a client sent. */
export function traceIdOf(traceparent: unknown): string | undefined {
  return typeof traceparent === "string" ? traceparentPattern.exec(traceparent)?.[1] : undefined;
}
