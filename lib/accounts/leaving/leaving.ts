import { auditedAccount } from "@/lib/accounts/accounts";
import { dayMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import { type Actor, auditedTransaction, type Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import { isKeyedHash, keyedHash } from "@/lib/runtime/keyed-hash";

/*
 * An owner leaves: the account is deleted a day after they asked for it, or an operator for them, and until then they can
 * take that back, signed in or by the link of the mail about it, and operators too. Nothing else changes meanwhile.
 */

/** How long an owner can take it back. */
export const graceMs = dayMs;

const leaving = "account leave";

type Leaver = { id: string; email: string };

/** Deletes an account a day from now, and tells its owner by mail. A second request changes nothing. */
export async function leave(
  db: Db,
  { id, email }: Leaver,
  nowMs: number,
  by: Extract<Actor, "owner" | Operator> = "owner",
): Promise<void> {
  const deletesAtMs = nowMs + graceMs;
  const about = { by, what: leaving, ...auditedAccount(email) };
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const asking = transaction.updateTable("accounts").set({ deletes_at_ms: deletesAtMs });
    const asked = asking.where("id", "=", id).where("deletes_at_ms", "is", null);
    const asker = await asked.returning("time_zone").executeTakeFirst();
    if (!asker) return;
    // For this account and this deletion only.
    const signed = `${id}.${deletesAtMs}`;
    const token = `${signed}.${keyedHash("keep-account:v1", signed)}`;
    const timeZone = asker.time_zone;
    const mail = { kind: "account deletion", to: email, token, deletesAtMs, timeZone } as const;
    await enqueueMail(transaction, mail, { nowMs, untilMs: deletesAtMs });
  });
}

/** Takes it back, unless its time has come. */
export async function stay(
  db: Db,
  { id, email }: Leaver,
  by: Extract<Actor, "owner" | "mail link" | Operator>,
  nowMs: number,
): Promise<void> {
  const about = { by, what: "account stay", ...auditedAccount(email) };
  await auditedTransaction(db, about, nowMs, (transaction) =>
    transaction
      .updateTable("accounts")
      .set({ deletes_at_ms: null })
      .where("id", "=", id)
      .where("deletes_at_ms", ">", nowMs)
      .execute(),
  );
}

/** The accounts whose time has come: a query. */
export function dueLeavers(db: Db, nowMs: number) {
  return db.selectFrom("accounts").select(["id", "email"]).where("deletes_at_ms", "<=", nowMs);
}

/** Who asked for it: the owner, or an operator for them. */
export async function whoAsked(db: Db, { id, email }: Leaver): Promise<"owner" | Operator> {
  const asked = db.selectFrom("audit_entries").select("who").where("what", "=", leaving);
  const newest = await asked
    .where("whom", "in", [email, id])
    .orderBy("at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest?.who.startsWith("operator") ? (newest.who as Operator) : "owner";
}

/** What a link is about: its account, or why there is nothing to keep. */
export type KeepLink =
  | { state: "leaving"; account: Leaver; deletesAtMs: number }
  | { state: "invalid" | "deleted" | "stays" };

/** Reads the token of a link. */
export async function readKeepLink(db: Db, token: string, nowMs: number): Promise<KeepLink> {
  const [, id = "", atMs = "", proof = ""] = /^([\w-]{1,64})\.(\d{1,16})\.([\w-]{43})$/.exec(token) ?? [];
  if (!isKeyedHash(proof, "keep-account:v1", `${id}.${atMs}`)) return { state: "invalid" };
  const account = await accountBy(db, "id", id).select(["id", "email", "deletes_at_ms"]).executeTakeFirst();
  const deletesAtMs = account?.deletes_at_ms;
  if (!account || (deletesAtMs != null && deletesAtMs <= nowMs)) return { state: "deleted" };
  if (deletesAtMs == null) return { state: "stays" };
  if (deletesAtMs !== Number(atMs)) return { state: "invalid" };
  return { state: "leaving", account: { id, email: account.email }, deletesAtMs };
}
