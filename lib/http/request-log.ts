import { METHODS } from "node:http";
import type { Call } from "@/lib/http/call";
import { allRoutes } from "@/lib/http/register/all-routes";
import { files } from "@/lib/http/register/files";
import { probes } from "@/lib/http/register/probes";
import { perProcess } from "@/lib/per-process";
import { keyedHash } from "@/lib/runtime/keyed-hash";
import { logFields } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";
import { RecentCache } from "@/lib/runtime/recent-cache";

/**
 * Logs and counts a request when its response is ready: one line without client address, query, headers and body. Static
 * files, and polls of /ready whose answer has not changed, are logged at `debug`. Requests to a site other than the public
 * one are named apart, and the office's are not counted.
 */
export function logRequest(call: Call, status: number): void {
  const { method, requestId, traceId, startedAtMs, subject, site } = call;
  const ms = performance.now() - startedAtMs;
  const measured = site.loggedAs === "office" ? undefined : metrics();
  const address = addressOf(call);
  if (measured) {
    measured.requests.inc({ address, status });
    measured.requestSeconds.observe({ address }, ms / 1000);
  }
  logFields(isOrdinary(address, status) ? "debug" : "info", () => {
    // Every value is known, generated or matched by a pattern, so none needs escaping.
    const known = isKnown(method) ? method : "other";
    const trace = traceId ? `,"traceId":"${traceId}"` : "";
    const whose = subject ? `,"subject":"${hashSubject(subject)}"` : "";
    const answered = `"status":${status},"ms":${Math.round(ms * 100) / 100}`;
    const where = site.loggedAs ?? "path";
    return `"method":"${known}","${where}":"${address}",${answered},"requestId":"${requestId}"${trace}${whose}`;
  });
}

/** What names the address of a request wherever that is kept: its route's, or a part that has nothing that someone sent. */
export const addressOf = ({ route, site, path }: Call): string =>
  route?.path ?? (site.loggedAs ? "/*" : placeOf(path));

/** Whether a method is one that Node knows, and no text that someone sent. */
export const isKnown = (method: string): boolean => knownMethods.has(method);

/** Whether an answer says nothing that operators look for: a file, or a balancer's poll that was answered as the one before. */
function isOrdinary(address: string, status: number): boolean {
  if (address !== probes.ready.path) return filePaths.has(address);
  const isAsBefore = lastReadiness().status === status;
  lastReadiness().status = status;
  return isAsBefore;
}

const lastReadiness = perProcess("the last answer of /ready", () => ({ status: 0 }));
const knownMethods = new Set(METHODS);
const filePaths = new Set<string>(Object.values(files).map(({ path }) => path));

/**
 * A path without a route: whole if a register has it, else only its first segment, because someone may paste a token into an
 * address.
 */
function placeOf(path: string): string {
  if (allRoutes.has(path)) return path;
  const [bare = ""] = path.split(/[?#]/, 1);
  if (allRoutes.has(bare)) return bare;
  return `${/^\/(?:api|mcp|hooks|docs)\//.exec(bare)?.[0] ?? "/"}*`;
}

// The hash costs more than the rest of the line, so recent ones are cached, only in memory.
const subjectHashes = perProcess("recent subjects", () => new RecentCache<string>(1000));

function hashSubject(subject: string): string {
  const known = subjectHashes().get(subject);
  if (known) return known;
  const hash = keyedHash("log-subject:v1", subject).slice(0, 12);
  subjectHashes().set(subject, hash);
  return hash;
}
