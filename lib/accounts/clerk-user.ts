import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import * as z from "zod";
import { auditedColumns } from "@/lib/accounts/account-columns";
import { openAccount } from "@/lib/accounts/accounts";
import { consumeInvitation } from "@/lib/accounts/invitations";
import { endSessionsOf } from "@/lib/auth/session-changes";
import { accountBy } from "@/lib/db/account-by";
import { auditedTransaction, recordAudit } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import { pseudonymOf } from "@/lib/db/pseudonym";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { hashEmail, isSuppressed, suppress } from "@/lib/mail/suppressions";
import { log } from "@/lib/runtime/log";

const farFutureMs = Date.UTC(9999, 11, 31);

/** The data of `user.created` and `user.updated`. The email is the primary one, if it is verified. */
export const clerkUser = z
  .object({
    id: z.string().regex(/^user_\w+$/),
    updated_at: z.int().min(0).max(farFutureMs),
    banned: z.boolean().default(false),
    locked: z.boolean().default(false),
    /** Null if the lock has no end. */
    lockout_expires_in_seconds: z.int().min(0).nullish(),
    primary_email_address_id: z.string().nullable(),
    email_addresses: z.array(
      z.object({
        id: z.string(),
        email_address: z.email(),
        verification: z.object({ status: z.string() }).nullable(),
      }),
    ),
  })
  .transform(({ id, updated_at, primary_email_address_id, email_addresses, banned, locked, ...user }) => {
    const lockedForMs = locked ? (user.lockout_expires_in_seconds ?? Number.POSITIVE_INFINITY) * 1000 : 0;
    const primary = email_addresses.find((address) => address.id === primary_email_address_id);
    return {
      id,
      updatedAtMs: updated_at,
      /** Clerk sends no event when a lock ends. */
      barredForMs: banned ? Number.POSITIVE_INFINITY : lockedForMs,
      email: primary?.verification?.status === "verified" ? primary.email_address.toLowerCase() : undefined,
    };
  });

/**
 * Updates our account from a user of Clerk: links it to the account with its email, or accepts the invitation for its
 * email, and follows a change of email. All in one transaction; repeated, late or reordered deliveries lead to the same
 * state. If Clerk bars the user, all sessions end, including those of apps.
 */
export async function syncClerkUser(
  db: Db,
  { id, email, updatedAtMs, barredForMs }: z.infer<typeof clerkUser>,
  nowMs: number,
): Promise<void> {
  const about = { by: "clerk", what: "user update", whom: email ?? id, readState: stateOf(id) } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    if (await isErased(transaction, id)) return;
    const barredUntilMs = barredForMs && Math.min(nowMs + barredForMs, farFutureMs);
    const bars = { barred_until_ms: barredUntilMs, barred_told_at_ms: updatedAtMs };
    // Of two equally new deliveries, the longer bar wins.
    await writeUser(transaction, id, bars, ({ or, eb, refTuple, tuple }) =>
      or([
        eb("clerk_users.barred_told_at_ms", "is", null),
        eb(
          refTuple("clerk_users.barred_told_at_ms", "clerk_users.barred_until_ms"),
          "<",
          tuple(updatedAtMs, barredUntilMs),
        ),
      ]),
    );
    if (!email) return;
    // The row lock serializes the deliveries for a user.
    await writeUser(transaction, id, { email, updated_at_ms: updatedAtMs }, ({ or, and, eb }) =>
      and([
        or([
          eb("clerk_users.updated_at_ms", "<", updatedAtMs),
          and([eb("clerk_users.updated_at_ms", "=", updatedAtMs), eb("clerk_users.email", "!=", email)]),
        ]),
        eb("clerk_users.is_deleted", "=", 0),
      ]),
    );
    const known = await accountBy(transaction, "subject", id).select("id").executeTakeFirst();
    const linking = transaction.updateTable("accounts").set({ subject: id }).where("email", "=", email);
    if (!known && !(await hasRow(linking.where("subject", "is", null).returning("id")))) {
      const terms = await consumeInvitation(transaction, { email }, nowMs);
      if (terms) await openAccount(transaction, email, { ...terms, subject: id }, nowMs);
    }
    const user = transaction.selectFrom("clerk_users").select("id").where("id", "=", id);
    if (await hasRow(user.where("is_deleted", "=", 1))) await deleteAccountOf(transaction, id, nowMs);
    else await moveAccount(transaction, id, nowMs);
  });
  const barred = await db
    .selectFrom("accounts")
    .innerJoin("clerk_users", "clerk_users.id", "accounts.subject")
    .select("accounts.id")
    .where("accounts.subject", "=", id)
    .where("clerk_users.barred_until_ms", ">", nowMs)
    .executeTakeFirst();
  if (barred) await endSessionsOf(db, { by: "clerk", what: "user barred" }, barred.id, "all", nowMs);
}

/**
 * Deletes the account of a user that was deleted at Clerk, with its mail. A late delivery does not create another one.
 */
export async function deleteClerkUser(db: Db, id: string, nowMs: number): Promise<void> {
  if (await isErased(db, id)) return;
  const readState = stateOf(id);
  const whom = (await readState(db))?.email || id;
  const about = { by: "clerk", what: "user delete", whom, readState } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const deleted = { email: "", is_deleted: 1 };
    await writeUser(transaction, id, deleted, ({ eb }) => eb("clerk_users.is_deleted", "=", 0));
    await deleteAccountOf(transaction, id, nowMs);
  });
}

/** Whether the person was erased; a delivery for them can still arrive. */
function isErased(db: Db, id: string): Promise<boolean> {
  return hasRow(db.selectFrom("clerk_users").select("id").where("id", "=", pseudonymOf(id)));
}

/** The audited state of a user: the account and until when it is barred, or Clerk's data if there is no account. */
function stateOf(subject: string) {
  return async (db: Db) => {
    const account = await accountBy(db, "subject", subject).select(auditedColumns).executeTakeFirst();
    const user = await db.selectFrom("clerk_users").selectAll().where("id", "=", subject).executeTakeFirst();
    return account ? { ...account, barred_until_ms: user?.barred_until_ms ?? 0 } : user;
  };
}

/** Writes these columns of a user: into a new row, or into the known one if `isNewer`. */
async function writeUser(
  transaction: Db,
  id: string,
  columns: Partial<Tables["clerk_users"]>,
  isNewer: (builder: ExpressionBuilder<Tables, "clerk_users">) => Expression<SqlBool>,
): Promise<void> {
  const blank = {
    email: "",
    updated_at_ms: 0,
    is_deleted: 0,
    barred_until_ms: null,
    barred_told_at_ms: null,
  };
  await transaction
    .insertInto("clerk_users")
    .values({ id, ...blank, ...columns })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(columns).where(isNewer))
    .execute();
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
