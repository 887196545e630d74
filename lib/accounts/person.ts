import { parseAccount } from "@/lib/accounts/account";
import { listCreditEntries, toCredits } from "@/lib/accounts/ledger";
import { listPasskeys } from "@/lib/auth/passkeys";
import { listSessions } from "@/lib/auth/session";
import { listAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { listEmails } from "@/lib/mail/onboarding-outbox";
import { listAttempts } from "@/lib/mail/sign-in-outbox";
import { hashEmail, isSuppressed } from "@/lib/mail/suppressions";

/**
 * All stored data about a person, by email: the download on `/home` and the operator's export. It contains no secrets
 * or their hashes. A part without data is `null` or empty.
 */
export async function exportPerson(db: Db, email: string, nowMs: number) {
  const row = await db.selectFrom("accounts").selectAll().where("email", "=", email).executeTakeFirst();
  const { id = "", subject = null } = row ?? {};
  const account = parseAccount(row);
  return {
    email,
    exportedAt: toInstant(nowMs),
    account: row
      ? {
          id,
          subject,
          plan: row.plan,
          trialEndsAt: toInstant(account && "trialEndsAtMs" in account ? account.trialEndsAtMs : null),
          assistantLimit: row.assistant_limit,
          credits: toCredits(row.credit_thousandths),
          lastTrialMailDueAt: toInstant(row.trial_mail_done_ms),
          nextTrialMailAttemptAt: toInstant(row.trial_mail_next_at_ms),
          createdAt: toInstant(row.created_at_ms),
        }
      : null,
    credits: await collect(listCreditEntries(db, id)),
    billing: await exportBilling(db, id),
    mails: await listEmails(db, id),
    signInMails: (await listAttempts(db, email)).map(({ kind, at_ms, state, failure }) => ({
      kind,
      at: toInstant(at_ms),
      state,
      failure,
    })),
    wantsAppEndMails: row ? row.app_end_mails_stopped_at_ms === null : null,
    wantsNoMail: await isSuppressed(db, hashEmail(email)),
    sessions: (await listSessions(db, id, nowMs)).map(
      ({ kind, name, begunAtMs, startedIn, lastSeenAtMs, endsAtMs, confirmedAtMs, confirmedBy }) => ({
        kind,
        name,
        begunAt: toInstant(begunAtMs),
        startedIn,
        lastSeenAt: toInstant(lastSeenAtMs),
        endsAt: toInstant(endsAtMs),
        confirmedAt: toInstant(confirmedAtMs),
        confirmedBy,
      }),
    ),
    passkeys: (await listPasskeys(db, id)).map(({ name, rpId, addedAtMs, lastUsedAtMs }) => ({
      name,
      host: rpId,
      addedAt: toInstant(addedAtMs),
      lastUsedAt: toInstant(lastUsedAtMs),
    })),
    waitlist: await readWaitlist(db, email),
    invitations: await readInvitations(db, email),
    changes: (await collect(listAudit(db, { whom: namesOf(email, { id, subject }) }))).map(
      ({ at_ms, who, what }) => ({ at: toInstant(at_ms), who, what }),
    ),
  };
}

/** The purchases of an account at Stripe, as we store them. */
export async function exportBilling(db: Db, accountId: string) {
  const read = async (table: "billing_customers" | "billing_subscriptions" | "billing_checkouts") => {
    const rows = await db
      .selectFrom(table as "billing_customers")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy("created_at_ms")
      .execute();
    return rows.map(({ account_id, ...row }) => Object.fromEntries(Object.entries(row).map(toField)));
  };
  const [customer = null] = await read("billing_customers");
  const [subscriptions, checkouts] = [await read("billing_subscriptions"), await read("billing_checkouts")];
  return { customer, subscriptions, checkouts };
}

/** A column as a field of JSON: times as ISO 8601. */
function toField([column, value]: [string, unknown]): [name: string, value: unknown] {
  const name = column.replace(/_ms$/, "").replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  return [name, column.endsWith("_ms") ? toInstant(value as number | null) : value];
}

/** All identifiers of a person that an audit entry may use. */
export function namesOf(
  email: string,
  account: { id: string; subject: string | null } | undefined,
): string[] {
  return [email, hashEmail(email), account?.id, account?.subject].filter((name) => typeof name === "string");
}

async function readWaitlist(db: Db, email: string) {
  const row = await db.selectFrom("waitlist").selectAll().where("email", "=", email).executeTakeFirst();
  return row ? { joinedAt: toInstant(row.joined_at_ms), invitedAt: toInstant(row.invited_at_ms) } : null;
}

async function readInvitations(db: Db, email: string) {
  const rows = await db
    .selectFrom("invitations")
    .select(["plan", "created_at_ms", "expires_at_ms", "accepted_at_ms"])
    .where("email", "=", email)
    .orderBy("created_at_ms")
    .execute();
  return rows.map(({ plan, created_at_ms, expires_at_ms, accepted_at_ms }) => ({
    plan,
    createdAt: toInstant(created_at_ms),
    expiresAt: toInstant(expires_at_ms),
    acceptedAt: toInstant(accepted_at_ms),
  }));
}

function toInstant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function collect<Item>(pages: AsyncIterable<Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}
