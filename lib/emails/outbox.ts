import { createHash, randomUUID } from "node:crypto";
import { onboardingSeries } from "@/lib/emails/series";
import type { Db } from "@/lib/store/store";

const dayMs = 24 * 60 * 60 * 1000;

/** Where an onboarding email stands. */
export type EmailState = "scheduled" | "sending" | "sent" | "stopped" | "failed";

/** Writes an account's onboarding mails, in the caller's transaction; stopped ones to a suppressed address. */
export async function scheduleOnboarding(
  transaction: Db,
  recipient: { accountId: string; email: string },
  nowMs: number,
): Promise<void> {
  const suppression = await transaction
    .selectFrom("email_suppressions")
    .select("email_hash")
    .where("email_hash", "=", hashEmail(recipient.email))
    .executeTakeFirst();
  const state: EmailState = suppression ? "stopped" : "scheduled";
  const rows = onboardingSeries.map(({ kind, afterDays }) => ({
    id: randomUUID(),
    account_id: recipient.accountId,
    kind,
    due_at_ms: nowMs + afterDays * dayMs,
    state,
  }));
  await transaction.insertInto("onboarding_emails").values(rows).execute();
}

/** Suppresses an account's address and stops what is still scheduled: both or neither. Again is the same. */
export async function stopLaterEmails(db: Db, accountId: string, nowMs: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const account = await transaction
      .selectFrom("accounts")
      .select("email")
      .where("id", "=", accountId)
      .executeTakeFirst();
    if (!account) return;
    await transaction
      .insertInto("email_suppressions")
      .values({ email_hash: hashEmail(account.email), created_at_ms: nowMs })
      .onConflict((conflict) => conflict.column("email_hash").doNothing())
      .execute();
    await transaction
      .updateTable("onboarding_emails")
      .set({ state: "stopped" satisfies EmailState })
      .where("account_id", "=", accountId)
      .where("state", "=", "scheduled" satisfies EmailState)
      .execute();
  });
}

/** Suppresses an address and stops what is still scheduled to it: both or neither. Again is the same. */
export async function suppressEmail(db: Db, email: string, nowMs: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto("email_suppressions")
      .values({ email_hash: hashEmail(email), created_at_ms: nowMs })
      .onConflict((conflict) => conflict.column("email_hash").doNothing())
      .execute();
    await transaction
      .updateTable("onboarding_emails")
      .set({ state: "stopped" satisfies EmailState })
      .where("state", "=", "scheduled" satisfies EmailState)
      .where("account_id", "in", (query) =>
        query.selectFrom("accounts").select("id").where("email", "=", email.toLowerCase()),
      )
      .execute();
  });
}

/** Follows an account to another email, in the caller's transaction: who stopped our mail at either stays unmailed. */
export async function moveRecipient(
  transaction: Db,
  { accountId, from, to }: { accountId: string; from: string; to: string },
  nowMs: number,
): Promise<void> {
  const suppression = await transaction
    .selectFrom("email_suppressions")
    .select("email_hash")
    .where("email_hash", "in", [hashEmail(from), hashEmail(to)])
    .executeTakeFirst();
  if (!suppression) return;
  await transaction
    .insertInto("email_suppressions")
    .values({ email_hash: hashEmail(to), created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column("email_hash").doNothing())
    .execute();
  await transaction
    .updateTable("onboarding_emails")
    .set({ state: "stopped" satisfies EmailState })
    .where("account_id", "=", accountId)
    .where("state", "=", "scheduled" satisfies EmailState)
    .execute();
}

/** An account's onboarding mails, in the order they are due. */
export async function listEmails(db: Db, accountId: string) {
  const rows = await db
    .selectFrom("onboarding_emails")
    .select(["id", "kind", "due_at_ms", "state"])
    .where("account_id", "=", accountId)
    .orderBy("due_at_ms")
    .execute();
  return rows.map(({ id, kind, due_at_ms, state }) => ({
    id,
    kind,
    dueAt: new Date(due_at_ms).toISOString(),
    state,
  }));
}

/** Not keyed by APP_SECRET: a suppression has to outlive every secret. */
function hashEmail(email: string): string {
  return createHash("sha256")
    .update(`corner-office:email-suppression:v1:${email.toLowerCase()}`)
    .digest("base64url");
}
