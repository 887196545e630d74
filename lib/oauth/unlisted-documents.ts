import { oauthSeconds } from "@/lib/config/lifetimes";
import { answersWithinMs, oauthBounds } from "@/lib/config/limits";
import { store } from "@/lib/db/store";
import { tooManyRequests } from "@/lib/http/errors";
import { maxDocumentBytes, parseDocument } from "@/lib/oauth/client-metadata-document";
import { fetchPublicDocument } from "@/lib/oauth/public-document";
import { findRegisteredClient, isUnlistedDocument, registerDocument } from "@/lib/oauth/registered-clients";
import { perProcess } from "@/lib/per-process";
import { counter } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";
import { RecentCache } from "@/lib/runtime/recent-cache";
import { TimeoutError, withTimeout } from "@/lib/runtime/timeout";

/** What became of a reading: `unreadable` if the document is not there or cannot be used. */
type Outcome = "read" | "unreadable";

type Reading = { outcome: Promise<Outcome>; untilMs: number };

/** The last readings of this process. Each is kept for 10 s, so that a page that looks again finds how it ended. */
const readings = perProcess("readings of unlisted documents", () => new RecentCache<Reading>(1000));
const keptMs = 10_000;

/**
 * Reads the metadata document of a client that is not listed, for the owner whom it asks for access: no stranger makes us
 * fetch one. It registers the client, and is read anew for a request that comes later. Throws a 429.
 *
 * @param mayAnswer - whether what it said before names where the answer goes; if not, it may have changed
 * @returns `reading` while its host has not answered; `undefined` if nothing was to be read
 */
export async function readForOwner(
  clientId: string,
  accountId: string,
  nowMs: number,
  mayAnswer: boolean,
): Promise<Outcome | "reading" | undefined> {
  if (!isUnlistedDocument(clientId)) return undefined;
  const registered = await findRegisteredClient(await store(), clientId, nowMs);
  if (mayAnswer && nowMs < (registered?.addedAtMs ?? 0) + oauthSeconds.request * 1000) return undefined;
  const { outcome } = await begin(clientId, accountId, nowMs);
  return withTimeout(answersWithinMs.documentForPage, outcome).catch((failure) => {
    if (!(failure instanceof TimeoutError)) throw failure;
    // While its host is away, what it said before counts.
    return registered && mayAnswer ? undefined : "reading";
  });
}

/** The reading that goes on, or was begun lately; for this owner, if none was. */
async function begin(clientId: string, accountId: string, nowMs: number): Promise<Reading> {
  const known = readings().get(clientId);
  if (known && nowMs < known.untilMs) return known;
  const { documents, windowSeconds } = oauthBounds;
  const spent = await counter("documents", documents, windowSeconds).consume(accountId);
  if (!spent.allowed) throw tooManyRequests(spent.retryAfterSeconds);
  const reading = { outcome: read(clientId, nowMs), untilMs: nowMs + keptMs };
  reading.outcome.catch(() => {
    reading.untilMs = 0; // the store failed, and no one may wait for that any more
  });
  readings().set(clientId, reading);
  return reading;
}

async function read(clientId: string, nowMs: number): Promise<Outcome> {
  const document = await fetchDocument(clientId).catch((failure: unknown) => {
    log().info({ client: clientId, reason: String(failure) }, "a metadata document could not be read");
  });
  if (!document) return "unreadable";
  await registerDocument(await store(), document, nowMs);
  return "read";
}

async function fetchDocument(clientId: string) {
  const text = await fetchPublicDocument(clientId, maxDocumentBytes, oauthBounds.documentWithinMs);
  const document = parseDocument(text);
  if (document.client_id !== clientId) throw new Error("client_id does not match the expected value");
  return document;
}
