import { createHmac, randomUUID } from "node:crypto";
import { METHODS } from "node:http";
import { mcpServer, operations } from "@/lib/api/operations";
import { files, places } from "@/lib/api/pages";
import { oncePerProcess } from "@/lib/once-per-process";
import { derivedKeys } from "@/lib/process/app-secret";
import { logFields } from "@/lib/process/log";
import { metrics } from "@/lib/process/metrics";
import { Recent } from "@/lib/process/recent";

/** What is known of a request on its way through the house. */
export type Visit = {
  method: string;
  /** As it was sent. */
  path: string;
  requestId: string;
  startedAtMs: number;
  /** Whose session it carries, once that is known. */
  subject?: string;
};

export const mostRequestIdCharacters = 128;
/** The `X-Request-Id` that we take over from a client. */
export const saneRequestId = new RegExp(`^[\\w.:-]{1,${mostRequestIdCharacters}}$`);
const queryOrFragment = /[?#]/;

/** Begins a visit. It keeps the request's own `X-Request-Id` when that is sane, else gets a new one. */
export function beginVisit(method: string, path: string, headers: Pick<Headers, "get">): Visit {
  const sent = headers.get("x-request-id");
  const requestId = sent && saneRequestId.test(sent) ? sent : randomUUID();
  return { method, path, requestId, startedAtMs: performance.now() };
}

/**
 * Logs and counts a visit when its answer leaves: one line, without address, query, header or body, and with method and
 * path as we know them. What a page fetches beside itself is said at `debug`.
 */
export function logVisit({ method, path, requestId, startedAtMs, subject }: Visit, status: number): void {
  const ms = performance.now() - startedAtMs;
  const measured = metrics();
  const address = nameOf(path);
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
  ...places.map(({ path }) => path),
]);

const knownMethods = new Set(METHODS);
const ofTheFramework = "/_next/*";
const filePaths = new Set<string>([ofTheFramework, ...Object.values(files).map(({ path }) => path)]);

/** A path as its register has it; of any other no more than where it would be: a token may be pasted into it. */
function nameOf(path: string): string {
  if (registered.has(path)) return path;
  const [bare = ""] = path.split(queryOrFragment, 1);
  if (registered.has(bare)) return bare;
  return `${/^\/(?:api|mcp|hooks|docs|_next)\//.exec(bare)?.[0] ?? "/"}*`;
}

// The hash costs more than the rest of the line; recent ones are kept, in memory alone.
const recentHashes = () => oncePerProcess("recent subjects", () => new Recent<string>(1000));

function hashSubject(subject: string): string {
  const known = recentHashes().get(subject);
  if (known) return known;
  const hash = createHmac("sha256", derivedKeys("log-subject:v1")[0])
    .update(subject)
    .digest("base64url")
    .slice(0, 12);
  recentHashes().set(subject, hash);
  return hash;
}
