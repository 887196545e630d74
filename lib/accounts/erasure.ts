import { sql } from "kysely";
import { eraseMailFiles, erasure } from "@/lib/accounts/erased-mails";
import { settings } from "@/lib/config/settings";
import { auditedTransaction } from "@/lib/db/audit";
import { pseudonymOf } from "@/lib/db/pseudonym";
import {
  type Alias,
  findMentions,
  mentionsOfEmail,
  mentionsOfId,
  replaceMentions,
  textTables,
} from "@/lib/db/redaction";
import { sweepDrafts } from "@/lib/db/snapshot";
import { type Db, forgetDeletedRows } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { dropSignInMailsTo } from "@/lib/mail/sign-in-outbox";
import { hashEmail } from "@/lib/mail/suppressions";

/**
 * Takes a person out of every table, in one transaction, and out of the files in `DATA_DIR`: the address however it is
 * spelt, the account's id and the subject, the sessions and what apps hold. The ledger, the mails' fates and the audit
 * stay under pseudonyms, and as a hash that the address wants no mail. Throws an {@link ApiError} when nothing is kept
 * of the address.
 */
export async function erasePerson(db: Db, email: string, nowMs: number): Promise<void> {
  const hash = hashEmail(email);
  // The entry of the erasure itself must not hold what was erased.
  const about = { by: "operator", what: erasure, whom: hash, look: async () => null } as const;
  const ids = await findIds(db, email);
  const named = await findNamed(db, email, ids);
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const found = [
      await dropSignInMailsTo(transaction, email),
      ...(await deleteRowsOf(transaction, email)),
      await closeAccount(transaction, email, nowMs),
      await closeUsers(transaction, email, ids),
    ];
    for (const id of ids) await deleteAppState(transaction, id);
    found.push(await rename(transaction, named));
    if (!found.includes(true)) throw nothingKept();
  });
  const namedMeanwhile = await findNamed(db, email, ids);
  await auditedTransaction(db, about, nowMs, (transaction) => rename(transaction, namedMeanwhile));
  await eraseMailFiles(settings().dataDir, new Map([[hash, nowMs]]));
  sweepDrafts(settings().dataDir);
  await forgetDeletedRows();
}

/** What else a person is called by: the account's id, and the subjects of the account and of users at Clerk. */
async function findIds(db: Db, email: string): Promise<string[]> {
  const accounts = await db
    .selectFrom("accounts")
    .select(["id", "subject"])
    .where("email", "=", email)
    .execute();
  const users = await db.selectFrom("clerk_users").select("id").where("email", "=", email).execute();
  const ids = [...accounts.flatMap(({ id, subject }) => [id, subject]), ...users.map(({ id }) => id)];
  return [...new Set(ids.filter((id) => id !== null))];
}

type Named = Awaited<ReturnType<typeof findNamed>>;

/** Where the person is mentioned in what people, apps and providers wrote, and what is to stand there instead. */
async function findNamed(db: Db, email: string, ids: string[]) {
  const ofIds: Alias[] = ids.map((id) => ({ mention: mentionsOfId(id), by: pseudonymOf(id) }));
  const mention = mentionsOfEmail(email);
  return Promise.all(
    textTables.map(async (table) => {
      // The audit can still be asked for by the address.
      const by = table === "audit_entries" ? hashEmail(email) : "(erased)";
      const aliases = [{ mention, by }, ...ofIds];
      return { table, keys: await findMentions(db, table, aliases), aliases };
    }),
  );
}

/** Takes the person out of these. Answers whether there was anything. */
async function rename(transaction: Db, named: Named): Promise<boolean> {
  let isNamed = false;
  for (const { table, keys, aliases } of named) {
    if (await replaceMentions(transaction, table, keys, aliases)) isNamed = true;
  }
  return isNamed;
}

/** Deletes what is about the address alone. Answers of each table whether there was anything. */
function deleteRowsOf(transaction: Db, email: string): Promise<boolean[]> {
  const tables = ["waitlist", "invitations", "sign_in_codes", "sign_in_emails"] as const;
  return Promise.all(
    tables.map(async (table) => {
      const gone = await transaction
        .deleteFrom(table)
        .where("email", "=", email)
        .returning("email")
        .execute();
      return gone.length > 0;
    }),
  );
}

/**
 * Leaves an account, for its ledger and the links in its mails, that is nobody's: under another id, since the mails that
 * the person has, and whoever was shown the old one, would lead from it to the person. Answers whether there was one.
 */
async function closeAccount(transaction: Db, email: string, nowMs: number): Promise<boolean> {
  const account = await transaction
    .selectFrom("accounts")
    .selectAll()
    .where("email", "=", email)
    .forUpdate()
    .executeTakeFirst();
  if (!account) return false;
  const id = pseudonymOf(account.id);
  const closed = {
    email: `${id.toLowerCase()}@erased.invalid`, // RFC 2606 §2: no such host can be
    subject: null,
    plan: "trial",
    trial_ends_at_ms: nowMs,
  };
  await transaction
    .insertInto("accounts")
    .values({ ...account, ...closed, id })
    .execute();
  await transaction
    .updateTable("credit_entries")
    .set({ account_id: id })
    .where("account_id", "=", account.id)
    .execute();
  const mails = () => transaction.updateTable("onboarding_emails").where("account_id", "=", account.id);
  await mails().set({ state: "stopped" }).where("state", "=", "scheduled").execute();
  await mails().set({ account_id: id }).execute();
  // Its sessions go with it.
  await transaction.deleteFrom("accounts").where("id", "=", account.id).execute();
  return true;
}

/** Leaves of users at Clerk that they are deleted, under other ids. Answers whether there were any. */
async function closeUsers(transaction: Db, email: string, ids: string[]): Promise<boolean> {
  const users = await transaction
    .selectFrom("clerk_users")
    .select("id")
    .where(({ or, eb }) => or([eb("email", "=", email), ...ids.map((id) => eb("id", "=", id))]))
    .execute();
  for (const { id } of users) {
    await transaction
      .updateTable("clerk_users")
      .set({ id: pseudonymOf(id), email: "", is_deleted: 1 })
      .where("id", "=", id)
      .execute();
  }
  return users.length > 0;
}

/** Deletes what apps hold of a subject's: grants, codes, refresh tokens, and what waits for its owner. */
async function deleteAppState(transaction: Db, id: string): Promise<void> {
  const pattern = `%"${id.replace(/[\\%_]/g, "\\$&")}"%`;
  const isAbout = sql<boolean>`payload like ${pattern} escape '\\'`;
  await transaction.deleteFrom("connect_state").where(isAbout).execute();
}

function nothingKept(): ApiError {
  return new ApiError("not_found", {
    message: "Nothing is kept of this email.",
    hint: "Look whether it is spelled right.",
  });
}
