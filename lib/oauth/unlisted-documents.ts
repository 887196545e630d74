import { oauthSeconds } from "@/lib/config/lifetimes";
import { answersWithinMs, oauthBounds } from "@/lib/config/limits";
import { store } from "@/lib/db/store";
import { tooManyRequests } from "@/lib/http/errors";
import { maxDocumentBytes, parseDocument } from "@/lib/oauth/client-metadata-document";
import { fetchPublicDocument } from "@/lib/oauth/public-document";
import { findRegisteredClient, isUnlistedDocument, registerDocument } from "@/lib/oauth/registered-clients";
import { processSingleton } from "@/lib/process-singleton";
import { counter } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";
import { RecentCache } from "@/lib/runtime/recent-cache";
import { TimeoutError, withTimeout } from "@/lib/runtime/timeout";

/** What became of a reading: `unreadable` if the document is not there or cannot be used. */
type Outcome = "read" | "unreadable";

/** The last readings of this process. Each is kept for 10 s, so that a page that looks again finds how it ended. */
const readings = () =>
  processSingleton(
    "readings of unlisted documents",
    () => new RecentCache<{ outcome: Promise<Outcome>; untilMs: number }>(1000),
  );
const keptMs = 10_000;

/**
 * Reads the metadata document of a client that is not listed, for the owner whom it asks for access: no stranger makes us
 * fetch one. It registers the client, and is read anew for a request that comes later. Throws a 429.
 *
 * @returns `reading` while its host has not answered
 */
export async function readForOwner(
  clientId: string,
  accountId: string,
  nowMs: number,
): Promise<Outcome | "reading"> {
  if (!isUnlistedDocument(clientId)) return "read";
  const registered = await findRegisteredClient(await store(), clientId, nowMs);
  if (nowMs < (registered?.addedAtMs ?? 0) + oauthSeconds.request * 1000) return "read";
  let reading = readings().get(clientId);
  if (!reading || nowMs >= reading.untilMs) {
    const { documents, windowSeconds } = oauthBounds;
    const { allowed, retryAfterSeconds } = await counter("documents", documents, windowSeconds).consume(
      accountId,
    );
    if (!allowed) throw tooManyRequests(retryAfterSeconds);
    reading = { outcome: read(clientId, nowMs), untilMs: nowMs + keptMs };
    readings().set(clientId, reading);
  }
  const outcome = await withTimeout(answersWithinMs.documentForPage, reading.outcome).catch((failure) => {
    if (failure instanceof TimeoutError) return "reading" as const;
    throw failure;
  });
  // While its host is away, what it said before counts.
  return registered ? "read" : outcome;
}

async function read(clientId: string, nowMs: number): Promise<Outcome> {
  try {
    const document = parseDocument(
      await fetchPublicDocument(clientId, maxDocumentBytes, oauthBounds.documentWithinMs),
    );
    if (document.client_id !== clientId) throw new Error("client_id does not match the expected value");
    await registerDocument(await store(), document, nowMs);
    return "read";
  } catch (failure) {
    log().info({ client: clientId, reason: String(failure) }, "a metadata document could not be read");
    return "unreadable";
  }
}
