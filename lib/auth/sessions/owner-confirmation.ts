import type { Confirmation } from "@/lib/auth/sessions/session";
import { changeSessions } from "@/lib/auth/sessions/session-changes";
import { endsFrom } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import { hashSecret } from "@/lib/runtime/secret";

/** How long a confirmation allows its browser to add and remove passkeys. */
const confirmationMs = 5 * 60 * 1000; // 5 minutes

/** Whether the owner has proved in the last five minutes, in this browser, who they are. */
export function isRecentlyConfirmed(confirmedAtMs: number | null | undefined, nowMs: number): boolean {
  return confirmedAtMs != null && Math.abs(nowMs - confirmedAtMs) < confirmationMs;
}

/**
 * How long the secret before the last confirmation still renews the token: other tabs have sent it meanwhile. It does
 * nothing else, so anyone who copied it adds no passkey after the owner's confirmation, and is out a minute later.
 */
const formerSecretMs = 60_000; // 1 minute

/**
 * Records that the owner has proved again in this browser who they are: its session lasts as if it began now, and has
 * another secret.
 */
export async function confirmBrowserSession(
  db: Db,
  { sessionId, accountId }: { sessionId: string; accountId: string },
  { by, secret }: { by: Confirmation; secret: string },
  nowMs: number,
): Promise<void> {
  await changeSessions(db, { by: "owner", what: "confirm", accountId }, nowMs, (transaction) =>
    transaction
      .updateTable("local_sessions")
      .set(({ ref }) => ({
        confirmed_at_ms: nowMs,
        confirmed_by: by,
        client_hash: hashSecret("client", secret),
        former_hash: ref("client_hash"),
        former_until_ms: nowMs + formerSecretMs,
        ...endsFrom("browser", nowMs),
      }))
      .where("id", "=", sessionId)
      .execute(),
  );
}
