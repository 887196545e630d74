import { createHmac, randomUUID } from "node:crypto";
import { METHODS } from "node:http";
import { nextPaths } from "@/lib/config/next-internals";
import { mcpServer, operations } from "@/lib/http/operations";
import { files, routes } from "@/lib/http/pages";
import { processSingleton } from "@/lib/process-singleton";
import { derivedKeys } from "@/lib/runtime/app-secret";
import { logFields } from "@/lib/runtime/log";
import { LruCache } from "@/lib/runtime/lru-cache";
import { metrics } from "@/lib/runtime/metrics";

/** What is known of a request on its way through the house. */
export type RequestContext = {
  method: string;
  /** As it was sent. */
  path: string;
  requestId: string;
  startedAtMs: number;
  /** Whose session it carries, once that is known. */
  subject?: string;
};

export const maxRequestIdCharacters = 128;
/** The `X-Request-Id` that we take over from a client. */
export const requestIdPattern = new RegExp(`^[\\w.:-]{1,${maxRequestIdCharacters}}$`);
const queryOrFragment = /[?#]/;

/** Begins a visit. It keeps the request's own `X-Request-Id` when that is sane, else gets a new one. */
export function createRequestContext(
  method: string,
  path: string,
  headers: Pick<Headers, "get">,
): RequestContext {
  const sent = headers.get("x-request-id");
  const requestId = sent && requestIdPattern.test(sent) ? sent : randomUUID();
  return { method, path, requestId, startedAtMs: performance.now() };
}

/**
 * Logs and counts a visit when its answer leaves: one line, without address, query, header or body, and with method and
 * path as we know them. What a page fetches beside itself is said at `debug`.
 */
export function logRequest(
  { method, path, requestId, startedAtMs, subject }: RequestContext,
  status: number,
): void {
  const ms = performance.now() - startedAtMs;
  const measured = metrics();
  const address = routeName(path);
  if (measured) {
    measured.requests.inc({ address, status });
    measured.requestSeconds.observe({ address }, ms / 1000);
  }
  logFields(filePaths.has(address) ? "debug" : "info", () => {
    // Every value is one that we know or made, and needs no escape.
    const known = knownMethods.has(method) ? method : "other";
    const whose = subject ? `,"subject":"${hashSubject(subject)}"` : "";
    const answered = `"status":${status},"ms":${Math.round(ms * 100) / 100}`;
    return `"method":"${known}","path":"${address}",${answered},"requestId":"${requestId}"${whose}`;
  });
}

const registered = new Set<string>([
  ...Object.values(operations).map(({ path }) => path),
  ...mcpServer.paths,
  ...routes.map(({ path }) => path),
]);

const knownMethods = new Set(METHODS);
const frameworkFiles = `${nextPaths.assets}*`;
const filePaths = new Set<string>([frameworkFiles, ...Object.values(files).map(({ path }) => path)]);

/** A path as its register has it; of any other no more than where it would be: a token may be pasted into it. */
function routeName(path: string): string {
  if (registered.has(path)) return path;
  const [bare = ""] = path.split(queryOrFragment, 1);
  if (registered.has(bare)) return bare;
  return `${/^\/(?:api|mcp|hooks|docs|_next)\//.exec(bare)?.[0] ?? "/"}*`;
}

// The hash costs more than the rest of the line; recent ones are kept, in memory alone.
const subjectHashes = () => processSingleton("recent subjects", () => new LruCache<string>(1000));

function hashSubject(subject: string): string {
  const known = subjectHashes().get(subject);
  if (known) return known;
  const hash = createHmac("sha256", derivedKeys("log-subject:v1")[0])
    .update(subject)
    .digest("base64url")
    .slice(0, 12);
  subjectHashes().set(subject, hash);
  return hash;
}
