import type { SentHeaders } from "@/lib/http/call";
import { readCookie } from "@/lib/http/cookies";
import { perProcess } from "@/lib/per-process";
import { RecentCache } from "@/lib/runtime/recent-cache";

const forMs = 10 * 60_000; // 10 minutes
const known = perProcess("known callers", () => new RecentCache<string>(10_000, forMs));

/** Notes whose credential a request carries, once that was found to be valid. */
export function rememberCaller(headers: SentHeaders, account: string, nowMs: number): void {
  const end = endOfCredential(headers);
  if (end && known().get(end) !== account) known().set(end, account, nowMs);
}

/** The account whose credential this was lately. It gives a share of what all share, and nothing else. */
export function findKnownCaller(headers: SentHeaders): string | undefined {
  return known().get(endOfCredential(headers) ?? "");
}

/** The end of a token or of a known browser's cookie, where its signature is: too much to guess, and too little to use. */
function endOfCredential(headers: SentHeaders): string | undefined {
  const sent =
    headers.get("authorization") ?? readCookie(headers, "__session") ?? readCookie(headers, "office-known");
  return sent && sent.length > 60 ? sent.slice(-22) : undefined;
}
