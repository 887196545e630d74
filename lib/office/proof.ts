import { CeremonyError } from "@/lib/auth/passkeys/passkey-ceremony";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { writeCookie } from "@/lib/http/cookies";
import { type OfficeSession, sessionSeconds } from "@/lib/office/session";
import { hashSecret, mintSecret } from "@/lib/runtime/secret";

const proofLivesMs = 5 * 60 * 1000; // 5 minutes

/** Whether the operator has used a passkey in this session within the last five minutes. */
export function isRecentlyProved({ provedAtMs }: OfficeSession, nowMs: number): boolean {
  return Math.abs(nowMs - provedAtMs) < proofLivesMs;
}

/**
 * Notes the proof in the transaction that used the passkey up. Returns the cookie of the session's new id. Throws if the
 * session has ended.
 */
export async function proveSession(
  transaction: Db,
  { idHash }: OfficeSession,
  nowMs: number,
): Promise<string> {
  const id = mintSecret();
  const proving = transaction
    .updateTable("operator_sessions")
    .set({ proved_at_ms: nowMs, id_hash: hashSecret("operator-session", id) })
    .where("id_hash", "=", idHash)
    .returning("id_hash");
  if (!(await hasRow(proving))) throw new CeremonyError("the session has ended");
  return writeCookie("operator-session", id, sessionSeconds);
}
