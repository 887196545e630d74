import { changeOperator, type Operator } from "@/lib/auth/operators";
import { CeremonyError } from "@/lib/auth/passkeys/passkey-ceremony";
import { hasRow } from "@/lib/db/has-row";
import { type Db, store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { clearCookie, readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import { hashSecret, mintSecret } from "@/lib/runtime/secret";

/** An operator's session in a browser. */
export type OfficeSession = { idHash: string; operator: Operator; provedAtMs: number };

const sessionSeconds = 8 * 60 * 60; // 8 hours
const idleMs = 60 * 60 * 1000; // 1 hour
const noteUseAfterMs = 60_000; // 1 minute
const proofLivesMs = 5 * 60 * 1000; // 5 minutes

/** Starts a session in the transaction that used the passkey up, in place of the browser's. Returns `Set-Cookie`. */
export async function startSession(
  transaction: Db,
  operator: Operator,
  { headers, nowMs }: Call,
): Promise<string> {
  const id = mintSecret();
  const earlier = readCookie(headers, "operator-session") ?? "";
  await transaction
    .deleteFrom("operator_sessions")
    .where("id_hash", "=", hashSecret("operator-session", earlier))
    .execute();
  await transaction
    .insertInto("operator_sessions")
    .values({
      id_hash: hashSecret("operator-session", id),
      operator_id: operator.id,
      begun_at_ms: nowMs,
      last_used_at_ms: nowMs,
      expires_at_ms: nowMs + sessionSeconds * 1000,
      proved_at_ms: nowMs,
    })
    .execute();
  return writeCookie("operator-session", id, sessionSeconds);
}

/** The session of a request, whose use it notes. Throws without one, after 8 hours, and after an hour without use. */
export async function continueSession({ headers, nowMs }: Call): Promise<OfficeSession> {
  const id = readCookie(headers, "operator-session");
  if (id === undefined) throw hasEnded;
  const db = await store();
  const idHash = hashSecret("operator-session", id);
  const row = await db
    .selectFrom("operator_sessions")
    .innerJoin("operators", "operators.id", "operator_sessions.operator_id")
    .select(["operators.id", "operators.name", "last_used_at_ms", "proved_at_ms"])
    .where("id_hash", "=", idHash)
    .where("expires_at_ms", ">", nowMs)
    .where("last_used_at_ms", ">", nowMs - idleMs)
    .executeTakeFirst();
  if (!row) throw hasEnded;
  if (row.last_used_at_ms <= nowMs - noteUseAfterMs) {
    await db
      .updateTable("operator_sessions")
      .set({ last_used_at_ms: nowMs })
      .where("id_hash", "=", idHash)
      .execute();
  }
  return { idHash, operator: { id: row.id, name: row.name }, provedAtMs: row.proved_at_ms };
}

const hasEnded = new ApiError("signed_out", { message: "Your session has ended.", hint: "Sign in again." });

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

/** Ends a session, and returns the `Set-Cookie` that deletes its cookie. */
export async function endSession({ idHash, operator }: OfficeSession, nowMs: number): Promise<string> {
  const change = { what: "operator sign-out", name: operator.name };
  await changeOperator(await store(), change, nowMs, (transaction) =>
    transaction.deleteFrom("operator_sessions").where("id_hash", "=", idHash).execute(),
  );
  return clearCookie("operator-session");
}
