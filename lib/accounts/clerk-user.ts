import * as z from "zod";
import { auditedColumns } from "@/lib/accounts/account-columns";
import { openAccount } from "@/lib/accounts/accounts";
import { consumeInvitation } from "@/lib/accounts/joining/invitations";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import { parseEmailAddress } from "@/lib/config/email-address";
import { accountBy } from "@/lib/db/account-by";
import { auditedTransaction, recordAudit } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import { pseudonymOf } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { hashEmail, isSuppressed, suppress } from "@/lib/mail/outbox/suppressions";
import { log } from "@/lib/runtime/log";

const farFutureMs = Date.UTC(9999, 11, 31);

const verifiedEmail = z.object({
  id: z.string(),
  email_address: z.string(),
  verification: z.object({ status: z.literal("verified") }),
});

/**
 * The data of `user.created` and `user.updated`. The email is the primary one, if it is verified. Only what we use has to
 * have its form, so that no other part of a user can hide that it is barred or that its email changed.
 */
export const clerkUser = z
  .object({
    id: z.string().regex(/^user_\w+$/),
    updated_at: z.number().min(0).max(farFutureMs).transform(Math.floor),
    /** A lock is another thing (`locked`): it stops new sign-ins at Clerk, and strangers cause it by wrong attempts. */
    banned: z.boolean().nullish(),
    primary_email_address_id: z.unknown(),
    email_addresses: z.array(z.unknown()).catch([]),
  })
  .transform(({ id, updated_at, primary_email_address_id, email_addresses, banned }) => {
    const primary = email_addresses
      .map((address) => verifiedEmail.safeParse(address).data)
      .find((address) => address?.id === primary_email_address_id);
    return {
      id,
      updatedAtMs: updated_at,
      isBanned: banned === true,
      email: primary && parseEmailAddress(primary.email_address),
    };
  });

/**
 * Updates our account from a user of Clerk: links it to the account with its email, or accepts the invitation for its
 * email, and follows a change of email. All in one transaction; repeated, late or reordered deliveries lead to the same
 * state, also one that comes after the invitation has expired that was accepted before. If the user is banned at Clerk, all
 * sessions end, including those of apps.
 */
export async function syncClerkUser(db: Db, told: z.infer<typeof clerkUser>, nowMs: number): Promise<void> {
  const { id, email, updatedAtMs, isBanned } = told;
  const about = { by: "clerk", what: "user update", whom: email ?? id, readState: stateOf(id) } as const;
  const barredUntilMs = await auditedTransaction(db, about, nowMs, async (transaction) => {
    if (await isErased(transaction, told)) return 0;
    const user = await lockUser(transaction, id);
    const news: Partial<Tables["clerk_users"]> = {};
    const untilMs = isBanned ? farFutureMs : 0;
    const toldAtMs = user.barred_told_at_ms ?? -1;
    // Of two equally new deliveries, the ban wins, and the later email.
    if (updatedAtMs > toldAtMs || (updatedAtMs === toldAtMs && untilMs > (user.barred_until_ms ?? 0)))
      Object.assign(news, { barred_until_ms: untilMs, barred_told_at_ms: updatedAtMs });
    const isNewer =
      updatedAtMs > user.updated_at_ms || (updatedAtMs === user.updated_at_ms && email !== user.email);
    if (email && isNewer && user.is_deleted === 0) Object.assign(news, { email, updated_at_ms: updatedAtMs });
    if (Object.keys(news).length > 0)
      await transaction.updateTable("clerk_users").set(news).where("id", "=", id).execute();
    if (email) {
      const known = await accountBy(transaction, "subject", id).select("id").executeTakeFirst();
      const linking = transaction.updateTable("accounts").set({ subject: id }).where("email", "=", email);
      if (!known && !(await hasRow(linking.where("subject", "is", null).returning("id")))) {
        const terms = await consumeInvitation(transaction, { email, atMs: updatedAtMs }, nowMs);
        if (terms) await openAccount(transaction, email, { ...terms, subject: id }, nowMs);
      }
      if (user.is_deleted === 1) await deleteAccountOf(transaction, id, nowMs);
      else await moveAccount(transaction, id, nowMs);
    }
    return news.barred_until_ms ?? user.barred_until_ms ?? 0;
  });
  if (barredUntilMs <= nowMs) return;
  const account = await accountBy(db, "subject", id).select("id").executeTakeFirst();
  const barring = { by: "clerk", what: "user barred", which: {} } as const;
  if (account) await endSessionsOf(db, { ...barring, accountId: account.id }, nowMs);
}

/**
 * Deletes the account of a user that was deleted at Clerk, with its mail. A late delivery does not create another one.
 */
export async function deleteClerkUser(db: Db, id: string, nowMs: number): Promise<void> {
  if (await isErased(db, { id })) return;
  const readState = stateOf(id);
  const whom = (await readState(db))?.email || id;
  const about = { by: "clerk", what: "user delete", whom, readState } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const { is_deleted } = await lockUser(transaction, id);
    const deletion = transaction.updateTable("clerk_users").set({ email: "", is_deleted: 1 });
    if (is_deleted === 0) await deletion.where("id", "=", id).execute();
    await deleteAccountOf(transaction, id, nowMs);
  });
}

/**
 * Whether the person was erased, for whom a delivery can still arrive, and has not come back since: with an account, or to one
 * that waits for their email, or by an invitation, which were there when the user changed at Clerk.
 */
async function isErased(
  db: Db,
  { id, email, updatedAtMs = 0 }: { id: string } & Partial<z.infer<typeof clerkUser>>,
): Promise<boolean> {
  const erased = db.selectFrom("clerk_users").select("id").where("id", "=", pseudonymOf(id));
  if (!(await hasRow(erased))) return false;
  if (await hasRow(accountBy(db, "subject", id).select("id"))) return false;
  if (!email) return true;
  const account = accountBy(db, "email", email).select("id").where("subject", "is", null);
  const invitation = db.selectFrom("invitations").select("id").where("email", "=", email);
  return !(
    (await hasRow(account.where("created_at_ms", "<=", updatedAtMs))) ||
    (await hasRow(invitation.where("created_at_ms", "<=", updatedAtMs)))
  );
}

/** The audited state of a user: the account and until when it is barred, or Clerk's data if there is no account. */
function stateOf(subject: string) {
  return async (db: Db) => {
    const account = await accountBy(db, "subject", subject).select(auditedColumns).executeTakeFirst();
    const user = await db.selectFrom("clerk_users").selectAll().where("id", "=", subject).executeTakeFirst();
    return account ? { ...account, barred_until_ms: user?.barred_until_ms ?? 0 } : user;
  };
}

/** Reads what is known of a user, for which the other deliveries about it wait. */
async function lockUser(transaction: Db, id: string): Promise<Tables["clerk_users"]> {
  await transaction
    .insertInto("clerk_users")
    .values({ id, email: "", updated_at_ms: 0, is_deleted: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const user = transaction.selectFrom("clerk_users").selectAll().where("id", "=", id);
  return user.forUpdate().executeTakeFirstOrThrow();
}

async function deleteAccountOf(transaction: Db, subject: string, nowMs: number): Promise<void> {
  const deleted = await transaction
    .deleteFrom("accounts")
    .where("subject", "=", subject)
    .returning("email")
    .executeTakeFirst();
  if (deleted) await giveFreed(transaction, deleted.email, nowMs);
}

type Mover = { id: string; email: string; wanted: string };

/** Gives the account of a user the email that Clerk reported last, and the one that it leaves to who waits for that. */
async function moveAccount(transaction: Db, subject: string, nowMs: number): Promise<void> {
  const mover = await findMover(transaction, "subject", subject);
  if (!mover || mover.email === mover.wanted) return;
  if (await move(transaction, mover, nowMs)) await giveFreed(transaction, mover.email, nowMs);
  else log().warn({ accountId: mover.id }, "an account keeps its email: another account has the new one");
}

/**
 * Moves an account to the email that its user has at Clerk; first the one that has this email, whose user has left it for
 * another one, and so on, also in a circle. Returns whether it has moved. The caller writes the audit.
 */
async function move(transaction: Db, { id, email, wanted }: Mover, nowMs: number): Promise<boolean> {
  const holder = await findMover(transaction, "email", wanted);
  if (holder && holder.email === holder.wanted) return false;
  const rename = (to: string) =>
    transaction.updateTable("accounts").set({ email: to }).where("id", "=", id).execute();
  await rename(`moving ${id}`);
  if (holder && (await move(transaction, holder, nowMs))) {
    const about = { by: "clerk", what: "user update", whom: holder.wanted } as const;
    await recordAudit(transaction, { ...about, after: { email: holder.wanted } }, nowMs);
  }
  const isFree = !(await findMover(transaction, "email", wanted));
  await rename(isFree ? wanted : email);
  if (!isFree) return false;
  if (await isSuppressed(transaction, hashEmail(email)))
    await suppress(transaction, [hashEmail(wanted)], nowMs);
  return true;
}

/** Reads an account and locks it, so that a delivery at the same time sees what this one has moved. */
async function findMover(
  transaction: Db,
  by: "subject" | "email",
  value: string,
): Promise<Mover | undefined> {
  const accounts = accountBy(transaction, by, value).select(["id", "email", "subject"]);
  const account = await accounts.forUpdate().executeTakeFirst();
  if (!account) return undefined;
  const users = transaction.selectFrom("clerk_users").select("email");
  const user = await users.where("id", "=", account.subject).executeTakeFirst();
  return { ...account, wanted: user?.email || account.email };
}

/** Gives a freed email to the account of the user who has it at Clerk, whose delivery came before it was free. */
async function giveFreed(transaction: Db, email: string, nowMs: number): Promise<void> {
  const user = await transaction
    .selectFrom("clerk_users")
    .innerJoin("accounts", "accounts.subject", "clerk_users.id")
    .select("clerk_users.id")
    .where("clerk_users.email", "=", email)
    .where("accounts.email", "!=", email)
    .orderBy("clerk_users.updated_at_ms", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!user) return;
  const about = { by: "clerk", what: "user update", whom: email, readState: stateOf(user.id) } as const;
  await auditedTransaction(transaction, about, nowMs, (guarded) => moveAccount(guarded, user.id, nowMs));
}
