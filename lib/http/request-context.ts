import { randomUUID } from "node:crypto";
import { METHODS } from "node:http";
import { allRoutes } from "@/lib/http/operations";
import { files } from "@/lib/http/pages";
import { processSingleton } from "@/lib/process-singleton";
import { keyedHash } from "@/lib/runtime/keyed-hash";
import { logFields } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";
import { RecentCache } from "@/lib/runtime/recent-cache";

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
const queryOrFragment = /[?#]/;

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

/**
 * Logs and counts a request when its response is ready: one line without client address, query, headers and body. Static
 * files are logged at `debug`. Requests to the operators' office are named apart, and not counted.
 */
export function logRequest(
  { method, path, requestId, traceId, startedAtMs, subject }: RequestContext,
  status: number,
  site?: "api" | "office",
): void {
  const ms = performance.now() - startedAtMs;
  const isOffice = site === "office";
  const measured = isOffice ? undefined : metrics();
  const address = isOffice ? path : routeName(path);
  if (measured) {
    measured.requests.inc({ address, status });
    measured.requestSeconds.observe({ address }, ms / 1000);
  }
  logFields(filePaths.has(address) ? "debug" : "info", () => {
    // Every value is known, generated or matched by a pattern, so none needs escaping.
    const known = knownMethods.has(method) ? method : "other";
    const trace = traceId ? `,"traceId":"${traceId}"` : "";
    const whose = subject ? `,"subject":"${hashSubject(subject)}"` : "";
    const answered = `"status":${status},"ms":${Math.round(ms * 100) / 100}`;
    const where = isOffice ? "office" : "path";
    return `"method":"${known}","${where}":"${address}",${answered},"requestId":"${requestId}"${trace}${whose}`;
  });
}

const knownMethods = new Set(METHODS);
const filePaths = new Set<string>(Object.values(files).map(({ path }) => path));

/** The path if a register has it, else only its first segment, because someone may paste a token into an address. */
function routeName(path: string): string {
  if (allRoutes.has(path)) return path;
  const [bare = ""] = path.split(queryOrFragment, 1);
  if (allRoutes.has(bare)) return bare;
  return `${/^\/(?:api|mcp|hooks|docs)\//.exec(bare)?.[0] ?? "/"}*`;
}

// The hash costs more than the rest of the line, so recent ones are cached, only in memory.
const subjectHashes = () => processSingleton("recent subjects", () => new RecentCache<string>(1000));

function hashSubject(subject: string): string {
  const known = subjectHashes().get(subject);
  if (known) return known;
  const hash = keyedHash("log-subject:v1", subject).slice(0, 12);
  subjectHashes().set(subject, hash);
  return hash;
}
