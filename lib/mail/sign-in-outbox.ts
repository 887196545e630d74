import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { Db } from "@/lib/db/store";
import { seal, unseal } from "@/lib/runtime/seal";

/** A mail that somebody waits for. */
export type SignInMail = z.infer<typeof signInMail>;

const signInMail = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("code"), to: z.string(), code: z.string(), isLong: z.boolean().default(false) }),
  z.object({ kind: z.literal("invitation"), to: z.string(), token: z.string() }),
]);

/** A mail that this runner alone may send, until its lease is over. */
export type ClaimedMail = {
  id: string;
  /** None where no secret of ours opens it any more. */
  mail: SignInMail | undefined;
  attempts: number;
  expiresAtMs: number;
  leaseUntilMs: number;
};

/**
 * Puts a mail into the outbox, in the transaction that makes what it brings: either both are kept or neither. Nothing
 * in the row can be read without `APP_SECRET`.
 *
 * @param untilMs - when what it brings is over, and nobody tries to deliver it any more
 * @returns its id
 */
export async function postSignInMail(
  transaction: Db,
  mail: SignInMail,
  { nowMs, untilMs }: { nowMs: number; untilMs: number },
): Promise<string> {
  const id = randomUUID();
  await transaction
    .insertInto("sign_in_mails")
    .values({
      id,
      kind: mail.kind,
      sealed: seal("sign-in-mail:v1", id, JSON.stringify(mail)),
      next_attempt_at_ms: nowMs,
      expires_at_ms: untilMs,
    })
    .execute();
  return id;
}

/** Takes up to `most` due mails for this runner alone, however many runners ask; `undefined` when none is due. */
export async function claimSignInMails(
  db: Db,
  { most, leaseMs, nowMs }: { most: number; leaseMs: number; nowMs: number },
): Promise<ClaimedMail[] | undefined> {
  const due = db.selectFrom("sign_in_mails").select("id").where("next_attempt_at_ms", "<=", nowMs);
  // Asked without a lock first: most of the time there is nothing.
  if (!(await due.limit(1).executeTakeFirst())) return undefined;
  const leaseUntilMs = nowMs + leaseMs;
  const rows = await db
    .with("next", () => due.orderBy("next_attempt_at_ms").limit(most).forUpdate().skipLocked())
    .updateTable("sign_in_mails")
    .set((column) => ({ next_attempt_at_ms: leaseUntilMs, attempts: column("attempts", "+", 1) }))
    .where("id", "in", (query) => query.selectFrom("next").select("id"))
    .returning(["id", "sealed", "attempts", "expires_at_ms"])
    .execute();
  return rows.map(({ id, sealed, attempts, expires_at_ms }) => ({
    id,
    mail: openMail(id, sealed),
    attempts,
    expiresAtMs: expires_at_ms,
    leaseUntilMs,
  }));
}

/** Takes every mail to an address out of the outbox, in the caller's transaction. Answers whether there was any. */
export async function dropSignInMailsTo(transaction: Db, email: string): Promise<boolean> {
  const rows = await transaction.selectFrom("sign_in_mails").select(["id", "sealed"]).execute();
  const ids = rows.filter(({ id, sealed }) => openMail(id, sealed)?.to === email).map(({ id }) => id);
  for (const id of ids) await transaction.deleteFrom("sign_in_mails").where("id", "=", id).execute();
  return ids.length > 0;
}

function openMail(id: string, sealed: string): SignInMail | undefined {
  const opened = unseal("sign-in-mail:v1", id, sealed);
  return opened === undefined ? undefined : signInMail.parse(JSON.parse(opened));
}

/** Takes a mail that is settled out of the outbox. */
export async function dropSignInMail(db: Db, { id, leaseUntilMs }: ClaimedMail): Promise<void> {
  await db
    .deleteFrom("sign_in_mails")
    .where("id", "=", id)
    .where("next_attempt_at_ms", "=", leaseUntilMs)
    .execute();
}

/** Puts a mail back until it is to be tried again. */
export async function putBackSignInMail(
  db: Db,
  { id, leaseUntilMs }: ClaimedMail,
  { attempts, atMs }: { attempts: number; atMs: number },
): Promise<void> {
  await db
    .updateTable("sign_in_mails")
    .set({ attempts, next_attempt_at_ms: atMs })
    .where("id", "=", id)
    .where("next_attempt_at_ms", "=", leaseUntilMs)
    .execute();
}
