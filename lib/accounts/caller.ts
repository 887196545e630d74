import { type Account, parseAccount } from "@/lib/accounts/account";
import { readCaller } from "@/lib/accounts/caller-read";
import { keyRing } from "@/lib/auth/keys/key-ring";
import { readKind, type SessionKind } from "@/lib/auth/sessions/session";
import { recordSessionUse } from "@/lib/auth/sessions/session-use";
import { type MissingSession, readSessionCredential } from "@/lib/auth/tokens/credential";
import type { Resource } from "@/lib/auth/tokens/token-audience";
import type { VerifiedToken } from "@/lib/auth/tokens/verifier";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import type { Call, SentHeaders } from "@/lib/http/call";
import { readCookie } from "@/lib/http/cookies";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/** The caller of an account route, or why it could not be identified. Without a session, an account is only looked at. */
export type Caller =
  | { is: "account"; account: Account; session?: CallerSession }
  | MissingSession
  /** `unreadable`: signed in, but the account's record is missing or does not parse. */
  | { is: "unreadable" | "unavailable" };

/** The caller's session: one of ours, or Clerk's own in a browser or an app that uses its SDK. */
export type CallerSession = VerifiedToken & ({ kind: SessionKind; endsAtMs: number } | { kind: "clerk" });

/**
 * Identifies the caller with one signature check and one read. It never throws: an outage returns `unavailable`.
 *
 * @param resource - the requested resource, for tokens that are bound to one; undefined for our pages
 * @param headers - those that count
 */
export async function identifyCaller(
  call: Call,
  resource: Resource | undefined,
  headers: SentHeaders = call.headers,
): Promise<Caller> {
  try {
    return await withTimeout(answersWithinMs.store, identify(call, resource, headers));
  } catch (failure) {
    log().error({ err: failure, requestId: call.requestId }, "an account could not be read");
    return { is: "unavailable" };
  }
}

async function identify(call: Call, resource: Resource | undefined, headers: SentHeaders): Promise<Caller> {
  const { nowMs } = call;
  const credential = await readSessionCredential(headers, resource, nowMs);
  if ("is" in credential) {
    // An outage is never "signed out": throws while the browser could not renew its session. Its read has nothing that a
    // stranger can choose, and shares the query of the others of its turn.
    if (credential.is === "signed-out" && mayRenew(headers))
      await readCaller(await store(), { ...noOne, nowMs });
    return credential;
  }
  call.subject = credential.subject;
  const { subject, sessionId, keyId = "" } = credential;
  const row = await readCaller(await store(), { subject, sessionId, keyId, nowMs });
  if (!row) return { is: "unreadable" };
  if (row.barred_id !== null && settings().signIn.kind === "clerk") return signedOut;
  if (credential.keyId === undefined)
    return row.ended_id === null ? toCaller(row, { ...credential, kind: "clerk" }) : signedOut;
  // Another process has revoked the key: stop signing with it.
  if (row.key_id === null) keyRing().refreshInBackground(nowMs, 0);
  if (row.session_id === null || row.expires_at_ms === null || row.key_id === null) return signedOut;
  const { expires_at_ms, last_date_ms, last_seen_at_ms } = row;
  const endsAtMs = recordSessionUse(row.session_id, { expires_at_ms, last_date_ms, last_seen_at_ms }, nowMs);
  return toCaller(row, { ...credential, kind: readKind(row), endsAtMs });
}

/** Whether a browser sent what renews its session, and no token of its own. */
function mayRenew(headers: SentHeaders): boolean {
  return !headers.has("authorization") && readCookie(headers, "office-client") !== undefined;
}

const noOne = { subject: "", sessionId: "", keyId: "" };

const signedOut = { is: "signed-out", tokenWasSent: true } as const;

function toCaller(row: Tables["accounts"], session: CallerSession): Caller {
  const account = parseAccount(row);
  return account ? { is: "account", account, session } : { is: "unreadable" };
}
