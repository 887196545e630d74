import { accountAt, exportAccount } from "@/lib/accounts/account-columns";
import { namesOf } from "@/lib/accounts/audit-trail";
import { listCreditEntries } from "@/lib/accounts/ledger";
import { exportHolds } from "@/lib/accounts/spending";
import { listPasskeys } from "@/lib/auth/passkeys/passkeys";
import { listEndedApps } from "@/lib/auth/sessions/ended-app";
import { listSessions } from "@/lib/auth/sessions/session";
import { asIso, toFields } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { listAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { describeMail, selectEmails } from "@/lib/mail/onboarding-outbox";
import { attemptsTo } from "@/lib/mail/outbox";
import { hashEmail, isSuppressed } from "@/lib/mail/suppressions";

/**
 * All stored data about a person, by email: the download on `/home/account` and the operator's export. It contains no
 * secrets or their hashes. A part without data is `null` or empty.
 */
export async function exportPerson(db: Db, email: string, nowMs: number) {
  const row = await accountBy(db, "email", email).select(accountAt(nowMs)).executeTakeFirst();
  const { id = "" } = row ?? {};
  const waiting = await db
    .selectFrom("waitlist")
    .select(["joined_at_ms", "confirmation_mailed_at_ms", "confirmed_at_ms"])
    .select(["unconfirmed_until_ms", "invited_at_ms"])
    .where("email", "=", email)
    .executeTakeFirst();
  const invitations = await db
    .selectFrom("invitations")
    .select(["plan", "created_at_ms", "expires_at_ms", "accepted_at_ms"])
    .where("email", "=", email)
    .orderBy("created_at_ms")
    .execute();
  const changes = await Array.fromAsync(listAudit(db, { whom: namesOf(db, email) }));
  return {
    email,
    exportedAt: asIso(nowMs),
    account: row ? exportAccount(row) : null,
    credits: (await Array.fromAsync(listCreditEntries(db, id))).flat(),
    holds: await exportHolds(db, id),
    billing: await exportBilling(db, id),
    unclaimedPurchases: (
      await db.selectFrom("billing_unclaimed").selectAll().where("email", "=", email).execute()
    ).map(({ id, created_at_ms }) => toFields({ id, created_at_ms })),
    mails: (await selectEmails(db, id).execute()).map(describeMail),
    signInMails: (await attemptsTo(db, email).execute()).map(({ id: _, email: __, ...mail }) =>
      toFields(mail),
    ),
    wantsAppEndMails: row ? row.app_end_mails_stopped_at_ms === null : null,
    wantsNoMail: await isSuppressed(db, hashEmail(email)),
    sessions: (await listSessions(db, id, nowMs)).map(({ id: _, isOperators: __, ...session }) =>
      toFields(session),
    ),
    endedApps: (await listEndedApps(db, id, nowMs)).map(({ id: _, ...app }) => toFields(app)),
    passkeys: (await listPasskeys(db, id)).map(({ name, rpId: host, addedAtMs, lastUsedAtMs }) =>
      toFields({ name, host, addedAtMs, lastUsedAtMs }),
    ),
    waitlist: waiting ? toFields(waiting) : null,
    invitations: invitations.map(toFields),
    changes: changes.flat().map(({ at_ms, who, what }) => toFields({ at_ms, who, what })),
  };
}

/** The purchases of an account at Stripe, as we store them. */
export async function exportBilling(db: Db, accountId: string) {
  type Table = "billing_customers" | "billing_subscriptions" | "billing_checkouts" | "billing_payments";
  const read = async (table: Table, time = "created_at_ms") => {
    const rows = await db
      .selectFrom(table as "billing_customers")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy(time as "created_at_ms")
      .execute();
    return rows.map(({ account_id, ...row }) => toFields(row));
  };
  const [customer = null] = await read("billing_customers");
  const [subscriptions, checkouts] = [await read("billing_subscriptions"), await read("billing_checkouts")];
  const payments = await read("billing_payments", "paid_at_ms");
  return { customer, subscriptions, checkouts, payments };
}
