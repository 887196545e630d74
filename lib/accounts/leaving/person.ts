import { accountAt, exportAccount } from "@/lib/accounts/account-columns";
import { namesOf } from "@/lib/accounts/audit-trail";
import { exportCreditLimits } from "@/lib/accounts/credits/credit-limits";
import { exportHolds } from "@/lib/accounts/credits/holds";
import { listCreditEntries } from "@/lib/accounts/credits/ledger";
import { describePasskey, listPasskeys } from "@/lib/auth/passkeys/passkeys";
import { selectAppAnswers } from "@/lib/auth/sessions/app-answers";
import { type EndedApp, endedApps, toEndedApps } from "@/lib/auth/sessions/ended-app";
import { listSessions, type Session } from "@/lib/auth/sessions/session";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { listAudit } from "@/lib/db/audit";
import { mapPages, paginate } from "@/lib/db/pagination";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { attemptsTo, describeMail } from "@/lib/mail/outbox/attempts";
import { selectEmails } from "@/lib/mail/outbox/onboarding-outbox";
import { hashEmail, isSuppressed } from "@/lib/mail/outbox/suppressions";

/**
 * All stored data about a person, by email: the download on `/home/account` and the operator's export. It contains no
 * secrets or their hashes. A part without data is `null` or empty; credits, holds, events and changes are lists of pages, which
 * are read later.
 */
export async function exportPerson(db: Db, email: string, nowMs: number) {
  const row = await accountBy(db, "email", email).select(accountAt(nowMs)).executeTakeFirst();
  const { id = "" } = row ?? {};
  const names = await namesOf(db, email);
  return {
    email,
    exportedAt: asIso(nowMs),
    account: row ? exportAccount(row) : null,
    credits: listCreditEntries(db, id),
    holds: exportHolds(db, id),
    creditLimits: await exportCreditLimits(db, id, nowMs),
    billing: await exportBilling(db, id),
    unclaimedPurchases: await exportUnclaimedPurchases(db, email),
    mails: (await selectEmails(db, id).execute()).map(describeMail),
    signInMails: (await attemptsTo(db, email).execute()).map(({ kind, at_ms, state, failure }) => ({
      kind,
      at: asIso(at_ms),
      state,
      failure,
    })),
    wantsAppEndMails: row ? row.app_end_mails_stopped_at_ms === null : null,
    wantsNoMail: await isSuppressed(db, hashEmail(email)),
    emailChanges: await exportEmailChanges(db, id),
    sessions: (await listSessions(db, id, nowMs)).map(describeSession),
    appAnswers: (await selectAppAnswers(db, id).execute()).map(({ app, told, at_ms }) => ({
      app,
      told,
      since: asIso(at_ms),
    })),
    endedApps: toEndedApps(await endedApps(db, id, nowMs).execute()).map(describeEndedApp),
    passkeys: (await listPasskeys(db, id)).map(describePasskey),
    events: exportEvents(db, id),
    waitlist: await exportWaitlist(db, email),
    invitations: await exportInvitations(db, email),
    changes: mapPages(listAudit(db, { whom: names }), ({ at_ms, who, what }) => ({
      at: asIso(at_ms),
      who,
      what,
    })),
  };
}

async function exportUnclaimedPurchases(db: Db, email: string) {
  const rows = await db.selectFrom("billing_unclaimed").selectAll().where("email", "=", email).execute();
  return rows.map(({ id, created_at_ms }) => ({ id, createdAt: asIso(created_at_ms) }));
}

async function exportEmailChanges(db: Db, accountId: string) {
  const rows = await db
    .selectFrom("email_changes")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("asked_at_ms")
    .execute();
  return rows.map((change) => ({
    from: change.from_email,
    to: change.to_email,
    askedAt: asIso(change.asked_at_ms),
    until: asIso(change.until_ms),
    changedAt: asIso(change.changed_at_ms),
    askedBy: change.asked_by,
    confirmedAt: { from: asIso(change.from_confirmed_at_ms), to: asIso(change.to_confirmed_at_ms) },
  }));
}

async function exportWaitlist(db: Db, email: string) {
  const waiting = await db
    .selectFrom("waitlist")
    .select(["joined_at_ms", "confirmation_mailed_at_ms", "confirmed_at_ms"])
    .select(["unconfirmed_until_ms", "invited_at_ms"])
    .where("email", "=", email)
    .executeTakeFirst();
  if (!waiting) return null;
  return {
    joinedAt: asIso(waiting.joined_at_ms),
    confirmationMailedAt: asIso(waiting.confirmation_mailed_at_ms),
    confirmedAt: asIso(waiting.confirmed_at_ms),
    unconfirmedUntil: asIso(waiting.unconfirmed_until_ms),
    invitedAt: asIso(waiting.invited_at_ms),
  };
}

async function exportInvitations(db: Db, email: string) {
  const rows = await db
    .selectFrom("invitations")
    .select(["plan", "created_at_ms", "expires_at_ms", "accepted_at_ms"])
    .where("email", "=", email)
    .orderBy("created_at_ms")
    .execute();
  return rows.map(({ plan, created_at_ms, expires_at_ms, accepted_at_ms }) => ({
    plan,
    createdAt: asIso(created_at_ms),
    expiresAt: asIso(expires_at_ms),
    acceptedAt: asIso(accepted_at_ms),
  }));
}

/** What happened to the account, as its operator's systems are told: page by page. */
function exportEvents(db: Db, accountId: string) {
  const events = db.selectFrom("events").select(["seq", "type", "at_ms", "data"]);
  const pages = paginate<{ seq: number; type: string; at_ms: number; data: string }>((last, limit) =>
    events
      .where("account_id", "=", accountId)
      .where("seq", ">", last?.seq ?? 0)
      .orderBy("seq")
      .limit(limit)
      .execute(),
  );
  return mapPages(pages, ({ type, at_ms, data }) => ({ type, at: asIso(at_ms), ...JSON.parse(data) }));
}

function describeSession(session: Session) {
  const { kind, name, told, startedIn, renewedFrom } = session;
  return {
    kind,
    name,
    origin: session.app_origin,
    begunAt: asIso(session.begun_at_ms),
    lastSeenAt: asIso(session.last_seen_at_ms),
    endsAt: asIso(session.expires_at_ms),
    lastDate: asIso(session.last_date_ms),
    checkedAt: asIso(session.checked_at_ms),
    told,
    inTurnSince: asIso(session.in_turn_since_ms),
    boundSince: asIso(session.bound_at_ms),
    confirmedAt: asIso(session.confirmed_at_ms),
    confirmedBy: session.confirmed_by,
    startedIn,
    renewedFrom,
  };
}

function describeEndedApp({ name, app_origin, last_seen_at_ms, expires_at_ms, ending }: EndedApp) {
  const [lastSeenAt, endedAt] = [asIso(last_seen_at_ms), asIso(expires_at_ms)];
  return { name, origin: app_origin, lastSeenAt, endedAt, ending };
}

type PurchaseTable = "billing_customers" | "billing_subscriptions" | "billing_checkouts" | "billing_payments";
type PurchaseColumn = { [Table in PurchaseTable]: keyof Tables[Table] }[PurchaseTable];

/** What the columns of purchases are called where they are shown, if that is not their name. */
const fieldNames: Record<Exclude<Extract<PurchaseColumn, `${string}_${string}`>, "account_id">, string> = {
  customer_id: "customerId",
  created_at_ms: "createdAt",
  plan_before: "planBefore",
  trial_ends_before_ms: "trialEndsBefore",
  limit_before: "limitBefore",
  limit_given: "limitGiven",
  status_reason: "statusReason",
  assistant_limit: "assistantLimit",
  price_id: "priceId",
  period_ends_ms: "periodEnds",
  period_starts_ms: "periodStarts",
  cycle_anchor_ms: "cycleAnchor",
  unpaid_since_ms: "unpaidSince",
  ends_at_ms: "endsAt",
  licence_until_ms: "licenceUntil",
  ending_mail_ms: "endingMail",
  last_event: "lastEvent",
  last_event_at_ms: "lastEventAt",
  invoice_id: "invoiceId",
  invoice_status: "invoiceStatus",
  amount_due: "amountDue",
  open_invoices: "openInvoices",
  next_attempt_ms: "nextAttempt",
  session_id: "sessionId",
  refunded_thousandths: "refundedThousandths",
  taken_thousandths: "takenThousandths",
  paid_at_ms: "paidAt",
};

/** A row of a purchase with the names that people get: times as ISO 8601. */
function describePurchase({ account_id, ...row }: Tables["billing_customers"]): Record<string, unknown> {
  const names: Record<string, string> = fieldNames;
  const fields = Object.entries(row).map(([column, value]) => [
    names[column] ?? column,
    column.endsWith("_ms") ? asIso(value as number | null) : value,
  ]);
  return Object.fromEntries(fields);
}

/** The purchases of an account at Stripe, as we store them. */
export async function exportBilling(db: Db, accountId: string) {
  const read = async (table: PurchaseTable, time = "created_at_ms") => {
    const rows = await db
      .selectFrom(table as "billing_customers")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy(time as "created_at_ms")
      .execute();
    return rows.map(describePurchase);
  };
  const [customer = null] = await read("billing_customers");
  const [subscriptions, checkouts] = [await read("billing_subscriptions"), await read("billing_checkouts")];
  const payments = await read("billing_payments", "paid_at_ms");
  return { customer, subscriptions, checkouts, payments };
}
