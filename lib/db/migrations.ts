import { createHash, randomUUID } from "node:crypto";
import { type Kysely, type QueryExecutorProvider, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { settings } from "@/lib/config/settings";
import {
  createTriggers,
  eventTriggers,
  givenTriggers,
  ofPostgres,
  planTriggers,
} from "@/lib/db/event-triggers";

/** A migration: a transaction, of SQL statements or by hand, or indexes that are created while the table is in use. */
export type SchemaChange = readonly string[] | Migration | IndexChange;

/** Indexes by name, with their table and columns, or by engine where these differ; `null` drops one. */
export type IndexChange = Record<string, string | { embedded?: string; postgres: string } | null>;

/** Executes SQL statements one after the other. */
export async function executeAll(db: QueryExecutorProvider, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const ofAccount = "account_id text not null references accounts (id) on delete cascade";
const ofOperator = "operator_id text not null references operators (id) on delete cascade";

/** The statements that add columns, written with commas between them, to a table: SQLite adds one at a time. */
const addColumns = (table: string, columns: string) =>
  columns.split(", ").map((column) => `alter table ${table} add column ${column}`);

/**
 * All migrations, in order, in SQL that both engines accept. Never edit one that has been released.
 *
 * They expand the schema, and contract it one release later: during a rolling upgrade, builds before and after a
 * migration run at the same time, and a build that is rolled back finds the newer schema. So a migration may add
 * tables, indexes and optional columns. It must not update rows one by one, or lock a table for longer than the
 * statement itself takes. A later release drops what no running build reads. `tests/lib/db/migrations.drill.ts` runs
 * older lists of migrations on today's schema.
 */
export const migrations: Record<string, SchemaChange> = {
  "001-first-tables": [
    `create table accounts (id text primary key, email text not null unique, subject text unique,
        plan text not null, trial_ends_at_ms bigint, assistant_limit bigint,
        credit_thousandths bigint not null default 0, created_at_ms bigint not null,
        constraint accounts_balance check (credit_thousandths >= 0))`,
    `create table credit_entries (id text primary key, ${ofAccount}, thousandths bigint not null,
        reason text not null, created_at_ms bigint not null)`,
    "create index credit_entries_account on credit_entries (account_id)",
    `create table site_banner (id bigint primary key, kind text not null, message text not null,
        starts_at_ms bigint, ends_at_ms bigint)`,
    `create table onboarding_emails (id text primary key, ${ofAccount}, kind text not null,
        due_at_ms bigint not null, state text not null,
        constraint onboarding_emails_once unique (account_id, kind))`,
    "create table email_suppressions (email_hash text primary key, created_at_ms bigint not null)",
    `create table local_sessions (id text primary key, ${ofAccount}, expires_at_ms bigint not null)`,
    "create index local_sessions_account on local_sessions (account_id)",
  ],
  "002-sign-in": [
    "create table waitlist (email text primary key, joined_at_ms bigint not null, invited_at_ms bigint)",
    `create table invitations (id text primary key, email text not null, token_hash text unique,
        plan text not null, trial_ends_at_ms bigint, trial_days bigint, assistant_limit bigint,
        credit_thousandths bigint, created_at_ms bigint not null, expires_at_ms bigint not null,
        accepted_at_ms bigint)`,
    "create index invitations_email on invitations (email)",
    `create table sign_in_codes (browser_hash text primary key, email text not null,
        code_hash text not null, tries bigint not null, created_at_ms bigint not null,
        expires_at_ms bigint not null)`,
    "create index sign_in_codes_email on sign_in_codes (email)",
    "alter table local_sessions add column client_hash text",
    "create unique index local_sessions_client on local_sessions (client_hash)",
    `create table clerk_users (id text primary key, email text not null, updated_at_ms bigint not null,
        is_deleted bigint not null default 0)`,
  ],
  "003-mail-delivery": {
    async up(db: Kysely<unknown>) {
      // The rows now outlive their account, and SQLite cannot drop a foreign key, so the table is created again.
      await executeAll(db, [
        "alter table onboarding_emails rename to onboarding_emails_before",
        `create table onboarding_emails (id text primary key, account_id text not null,
          recipient_hash text not null, kind text not null, due_at_ms bigint not null, state text not null,
          next_attempt_at_ms bigint not null, attempts bigint not null default 0, first_attempt_at_ms bigint,
          lease_until_ms bigint, failure text,
          constraint onboarding_emails_once_each unique (account_id, kind))`,
      ]);
      const mails = sql<
        Record<"id" | "account_id" | "kind" | "state" | "email", string> & { due_at_ms: number }
      >`
        select mail.id, account_id, kind, due_at_ms, state, email
        from onboarding_emails_before as mail inner join accounts on accounts.id = mail.account_id`;
      const yesterdayMs = Date.now() - 24 * 60 * 60 * 1000;
      for (const { id, account_id, kind, due_at_ms, state, email } of (await mails.execute(db)).rows) {
        // No mail was delivered before this migration. Overdue mails would now arrive all at once, and too late to be
        // useful.
        const isTooLate = state === "scheduled" && due_at_ms < yesterdayMs;
        const [outcome, failure] = isTooLate ? ["failed", "due before mail was delivered"] : [state, null];
        const insert = sql`
          insert into onboarding_emails
            (id, account_id, recipient_hash, kind, due_at_ms, next_attempt_at_ms, state, failure)
          values (${id}, ${account_id}, ${hashEmailAt003(email)}, ${kind}, ${due_at_ms}, ${due_at_ms},
            ${outcome}, ${failure})`;
        await insert.execute(db);
      }
      await executeAll(db, [
        "drop table onboarding_emails_before",
        "create index onboarding_emails_due on onboarding_emails (state, next_attempt_at_ms)",
        "create index onboarding_emails_recipient on onboarding_emails (recipient_hash)",
      ]);
    },
  },
  "004-sessions-and-keys": [
    `create table signing_keys (kid text primary key, place bigint not null unique, issuer text not null,
        sealed_key text, made_at_ms bigint not null, signs_from_ms bigint, verifies_until_ms bigint,
        revoked_at_ms bigint)`,
    ...addColumns(
      "local_sessions",
      "kind text, name text, begun_at_ms bigint, last_seen_at_ms bigint, made_in text references local_sessions (id) on delete cascade",
    ),
    "create index local_sessions_expires_at_ms on local_sessions (expires_at_ms)",
    "create index local_sessions_made_in on local_sessions (made_in)",
  ],
  "005-sign-in-mails": [
    `create table sign_in_mails (id text primary key, kind text not null, sealed text not null,
        attempts bigint not null default 0, next_attempt_at_ms bigint not null,
        expires_at_ms bigint not null)`,
    "create index sign_in_mails_next on sign_in_mails (next_attempt_at_ms)",
  ],
  // Partial indexes for the mail runner: finding the next mail stays fast, however many were sent.
  "007-mail-indexes": {
    onboarding_emails_scheduled: "onboarding_emails (next_attempt_at_ms) where state = 'scheduled'",
    onboarding_emails_sending: "onboarding_emails (lease_until_ms) where state = 'sending'",
    onboarding_emails_due: null,
  },
  "008-sign-in-emails": [
    ...addColumns("sign_in_codes", "share text not null default 'stranger', asker_hash text"),
    "create index sign_in_codes_created on sign_in_codes (created_at_ms)",
    "create index sign_in_codes_share on sign_in_codes (email, share, created_at_ms)",
    `create table sign_in_emails (email text primary key, long_code_hash text not null,
        long_code_until_ms bigint not null)`,
    "create index sign_in_emails_until on sign_in_emails (long_code_until_ms)",
  ],
  "009-connect": [
    `create table connect_state (kind text not null, id_hash text not null, payload text not null,
        grant_id text, look_up_hash text, consumed_at_ms bigint, expires_at_ms bigint not null,
        constraint connect_state_id primary key (kind, id_hash))`,
    "create index connect_state_grant_id on connect_state (grant_id)",
    "create index connect_state_look_up_hash on connect_state (look_up_hash)",
    "create index connect_state_expires_at_ms on connect_state (expires_at_ms)",
  ],
  "010-audit": [
    `create table audit_entries (id text primary key, at_ms bigint not null, who text not null,
        what text not null, whom text, "before" text, "after" text)`,
    "create index audit_entries_at on audit_entries (at_ms, id)",
    "create index audit_entries_whom on audit_entries (whom, at_ms, id)",
  ],
  // For the deletion of old rows.
  "011-retention": {
    waitlist_joined: "waitlist (joined_at_ms, email)",
    invitations_created: "invitations (created_at_ms)",
    onboarding_emails_settled: "onboarding_emails (due_at_ms) where state in ('sent', 'stopped', 'failed')",
  },
  "020-connect-clients": [
    `create table connect_clients (id text primary key, name text not null, redirect_uris text not null,
        added_at_ms bigint not null)`,
  ],
  // For counting failed mails, however many were sent.
  "040-failed-mails": {
    onboarding_emails_failed: "onboarding_emails (next_attempt_at_ms) where state = 'failed'",
  },
  // Every instance queries these once an hour.
  "041-erasures": {
    audit_entries_erasures: "audit_entries (at_ms) where what = 'person erase'",
  },
  // For evicting the oldest unanswered authorization request.
  "042-connect-pending": {
    connect_state_pending: "connect_state (kind, expires_at_ms) where grant_id is null",
  },
  // The waiting emails are counted at every join.
  "043-waitlist-waiting": {
    waitlist_waiting: "waitlist (joined_at_ms) where invited_at_ms is null",
  },
  "044-clerk-ends": [
    ...addColumns("clerk_users", "barred_until_ms bigint, barred_told_at_ms bigint"),
    "alter table local_sessions add column clerk_session text",
    "create table clerk_sessions_ended (id text primary key, ended_at_ms bigint not null)",
    "create index clerk_sessions_ended_at on clerk_sessions_ended (ended_at_ms)",
  ],
  "045-refresh-token-parents": ["alter table connect_state add column parent_hash text"],
  "047-app-end-mails": [
    "alter table local_sessions add column end_mail_at_ms bigint",
    "alter table accounts add column app_end_mails_stopped_at_ms bigint",
  ],
  // Every instance looks once a minute for mails that are due.
  "048-app-end-mails-due": {
    local_sessions_end_mail: "local_sessions (end_mail_at_ms) where end_mail_at_ms is not null",
  },
  "050-passkeys": [
    ...addColumns("local_sessions", "confirmed_at_ms bigint, confirmed_by text"),
    `create table passkeys (id text primary key, ${ofAccount}, credential_id text not null unique,
        rp_id text not null, public_key text not null, counter bigint not null, name text not null,
        added_at_ms bigint not null, last_used_at_ms bigint)`,
    "create index passkeys_account on passkeys (account_id)",
    "create table passkey_challenges (challenge text primary key, expires_at_ms bigint not null)",
    `create table passkey_offers (account_id text primary key references accounts (id) on delete cascade,
        declined_at_ms bigint not null)`,
  ],
  "055-billing": [
    `create table billing_customers (account_id text primary key references accounts (id) on delete cascade,
        customer_id text not null unique, created_at_ms bigint not null, licence text, plan_before text,
        trial_ends_before_ms bigint, limit_before bigint, limit_given bigint)`,
    `create table billing_subscriptions (id text primary key, ${ofAccount}, status text not null,
        assistant_limit bigint, period_ends_ms bigint not null, ends_at_ms bigint,
        licence_until_ms bigint not null, version bigint not null, created_at_ms bigint not null,
        last_event text, last_event_at_ms bigint)`,
    `create table billing_checkouts (id text primary key, ${ofAccount}, kind text not null,
        price_id text not null, thousandths bigint not null, state text not null, session_id text unique,
        refunded_thousandths bigint not null default 0, created_at_ms bigint not null,
        last_event text, last_event_at_ms bigint)`,
    // Two tabs that buy at once get the same checkout.
    "create unique index billing_checkouts_open on billing_checkouts (account_id, kind) where state = 'open'",
  ],
  // For the reconciler, which looks for them every ten minutes.
  "056-billing-unsettled": {
    billing_checkouts_account: "billing_checkouts (account_id)",
    billing_subscriptions_account: "billing_subscriptions (account_id)",
    billing_checkouts_unsettled: "billing_checkouts (created_at_ms) where state in ('open', 'unpaid')",
    billing_subscriptions_current: "billing_subscriptions (period_ends_ms) where licence_until_ms > 0",
  },
  "070-session-starts": addColumns("local_sessions", "begun_by text, begun_in text, network text"),
  // Most sessions were made in none: after ANALYZE, SQLite scanned them all for each that ended.
  "080-sessions-made": {
    local_sessions_made: "local_sessions (made_in) where made_in is not null",
    local_sessions_made_in: null,
  },
  "081-trial-mails": addColumns("accounts", "trial_mail_done_ms bigint, trial_mail_next_at_ms bigint"),
  // Every instance looks once a minute for mails that are due: three days before the end of a trial, and at its end.
  "082-trial-mails-due": {
    accounts_trial_ending:
      "accounts (trial_ends_at_ms) where plan = 'trial' and created_at_ms <= trial_ends_at_ms - 259200000 and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms - 259200000)",
    accounts_trial_ended:
      "accounts (trial_ends_at_ms) where plan = 'trial' and created_at_ms < trial_ends_at_ms and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms)",
  },
  "085-status-outages": [
    `create table status_outages (part text not null, started_at_ms bigint not null,
        seen_at_ms bigint not null, ended_at_ms bigint,
        constraint status_outages_key primary key (part, started_at_ms))`,
    "create unique index status_outages_open on status_outages (part) where ended_at_ms is null",
  ],
  "090-sign-in-mail-attempts": [
    `create table sign_in_mail_attempts (id text primary key, email text not null, kind text not null,
        at_ms bigint not null, state text not null, failure text)`,
    "create index sign_in_mail_attempts_email on sign_in_mail_attempts (email, at_ms)",
    "create index sign_in_mail_attempts_at on sign_in_mail_attempts (at_ms)",
  ],
  // For the operator's overview.
  "091-overview": {
    accounts_trials: "accounts (trial_ends_at_ms) where plan = 'trial'",
    email_suppressions_created: "email_suppressions (created_at_ms)",
  },
  "100-office": [
    `create table operators (id text primary key, name text not null unique, added_at_ms bigint not null,
        link_hash text unique, link_until_ms bigint)`,
    `create table operator_passkeys (credential_id text primary key, ${ofOperator}, rp_id text not null,
        public_key text not null, counter bigint not null, added_at_ms bigint not null,
        last_used_at_ms bigint)`,
    `create table operator_sessions (id_hash text primary key, ${ofOperator}, begun_at_ms bigint not null,
        last_used_at_ms bigint not null, expires_at_ms bigint not null, proved_at_ms bigint not null)`,
    "create index operator_passkeys_operator on operator_passkeys (operator_id)",
    "create index operator_sessions_operator on operator_sessions (operator_id)",
  ],
  // Each list of the office is read page by page in the order of an index.
  "101-office-lists": {
    // SQLite orders text by its bytes anyway; the order of other collations cannot find the start of an email.
    accounts_plan: {
      embedded: "accounts (plan, email)",
      postgres: 'accounts (plan, (email collate "C"))',
    },
    accounts_created: "accounts (created_at_ms)",
    accounts_others: "accounts (plan) where plan <> 'trial'",
    clerk_users_email: "clerk_users (email)",
    audit_entries_who: "audit_entries (who, at_ms, id)",
    audit_entries_what: "audit_entries (what, at_ms, id)",
    audit_entries_who_what: "audit_entries (who, what, at_ms, id)",
    local_sessions_apps: "local_sessions (expires_at_ms) where kind = 'app'",
    onboarding_emails_failures: "onboarding_emails (next_attempt_at_ms, id) where state = 'failed'",
    sign_in_mail_failures: "sign_in_mail_attempts (at_ms, id) where state <> 'sent'",
    accounts_email_bytes: { postgres: 'accounts (email collate "C")' },
  },
  // For erasing a person and removing a client; the expressions are those of lib/db/connect-state.ts.
  "110-connect-owners": {
    connect_state_subject: {
      embedded:
        "connect_state (case when json_valid(payload) then coalesce(payload ->> '$.accountId', payload ->> '$.result.login.accountId') end)",
      postgres: `connect_state (substring(payload from '"accountId":"([^"]+)"'))`,
    },
    connect_state_client: {
      embedded:
        "connect_state (case when json_valid(payload) then substr(payload ->> '$.clientId', 1, 100) end) where grant_id is not null",
      postgres: `connect_state (substring(payload from '"clientId":"([^"]{1,100})')) where grant_id is not null`,
    },
  },
  "130-secrets": [
    "create table link_keys (id text primary key, sealed_key text not null, makes_from_ms bigint not null)",
    ...addColumns("local_sessions", "former_hash text, former_until_ms bigint"),
    "create index local_sessions_former on local_sessions (former_hash) where former_hash is not null",
    ...addColumns("operator_sessions", "former_hash text, former_until_ms bigint"),
  ],
  "135-app-origins": ["alter table local_sessions add column app_origin text"],
  "140-billing-readings": [
    ...addColumns(
      "billing_subscriptions",
      "unpaid_since_ms bigint, price_id text, invoice_id text, invoice_status text, amount_due bigint, currency text",
    ),
    "alter table billing_checkouts add column taken_thousandths bigint",
  ],
  // For the operator's overview.
  "141-billing-attention": {
    billing_subscriptions_status: "billing_subscriptions (status)",
  },
  "150-session-ends": addColumns(
    "local_sessions",
    "last_date_ms bigint, ended_as text, checked_at_ms bigint, told text",
  ),
  "160-licence-mails": ["alter table billing_subscriptions add column ending_mail_ms bigint"],
  // Every instance looks once a minute for cancelled licences that end in three days.
  "161-licence-mails-due": {
    billing_subscriptions_ends: "billing_subscriptions (ends_at_ms) where ends_at_ms is not null",
  },
  "165-waitlist-confirmation": addColumns(
    "waitlist",
    "confirmation_hash text, confirmation_mailed_at_ms bigint, confirmed_at_ms bigint, unconfirmed_until_ms bigint, mailbox_hash text",
  ),
  "166-waitlist-lookups": {
    waitlist_confirmation: "waitlist (confirmation_hash)",
    waitlist_mailbox: "waitlist (mailbox_hash)",
    waitlist_unconfirmed: "waitlist (unconfirmed_until_ms)",
  },
  "170-leavers": ["alter table accounts add column deletes_at_ms bigint"],
  "171-leavers-due": {
    accounts_deletes: "accounts (deletes_at_ms) where deletes_at_ms is not null",
  },
  "185-renewal-networks": addColumns("local_sessions", "renewed_from text, in_turn_since_ms bigint"),
  "186-announcements": ["alter table site_banner add column announced_at_ms bigint"],
  "200-ledger-order": ["alter table credit_entries add column place bigint not null default 0"],
  // Each entry is written after the account's last one.
  "201-ledger-lookups": { credit_entries_order: "credit_entries (account_id, created_at_ms, place, id)" },
  "205-subscription-reasons": ["alter table billing_subscriptions add column status_reason text"],
  "206-licence-prices": [
    "create table billing_licence_prices (id text primary key, assistant_limit bigint, sold_at_ms bigint not null)",
  ],
  "210-billing-recovery": [
    "create table billing_unclaimed (id text primary key, email text not null, created_at_ms bigint not null)",
    "create index billing_unclaimed_email on billing_unclaimed (email)",
    "create table billing_progress (id text primary key, through_ms bigint not null)",
    // A backup of an earlier build knows what was read before it was made.
    `insert into billing_progress (id, through_ms) select 'purchases', read_ms from (
        select max(last_event_at_ms) as read_ms from (select last_event_at_ms from billing_subscriptions
        union all select last_event_at_ms from billing_checkouts) as readings) as newest where read_ms is not null`,
  ],
  "211-billing-payments": [
    `create table billing_payments (id text primary key, ${ofAccount}, bought text not null, amount bigint not null,
        returned bigint not null, dispute text, currency text not null, paid_at_ms bigint not null)`,
  ],
  // The customers are listed newest first, and by what finance asks of them.
  "212-customer-lists": {
    billing_payments_account: "billing_payments (account_id)",
    billing_payments_returned: "billing_payments (account_id) where returned > 0",
    billing_payments_disputed: "billing_payments (account_id) where dispute is not null",
    billing_customers_created: "billing_customers (created_at_ms, account_id)",
    billing_subscriptions_owing:
      "billing_subscriptions (licence_until_ms, account_id) where status in ('past_due', 'unpaid')",
    billing_subscriptions_prices: "billing_subscriptions (price_id) where licence_until_ms > 0",
    billing_subscriptions_reason: "billing_subscriptions (status_reason) where status_reason is not null",
  },
  "220-longer-codes": addColumns("sign_in_codes", "characters bigint, tried_at_ms bigint"),
  // Each request for a code counts the wrong tries of the last hour.
  "221-wrong-codes": {
    sign_in_codes_tried: "sign_in_codes (tried_at_ms) where tried_at_ms is not null",
  },
  "225-ledger-payments": addColumns(
    "credit_entries",
    "checkout text, price_id text, amount bigint, currency text",
  ),
  "226-open-invoices": addColumns("billing_subscriptions", "open_invoices bigint"),
  "227-limits-of-lapsed": {
    async up(db: Kysely<unknown>) {
      const { lapsedPlan, lapsedLimit } = settings().billing ?? {};
      if (lapsedPlan !== "hobby" || lapsedLimit === undefined) return;
      // Earlier builds left trials without a limit that fell to hobby with their licence: the audit has both.
      const lapsed = `plan = 'hobby' and assistant_limit is null
        and id in (select account_id from billing_customers where licence is null)
        and email in (select whom from audit_entries where who = 'stripe' and before like '%"plan":"trial"%')
        and email not in (select whom from audit_entries
          where who <> 'stripe' and whom is not null and after like '%"plan":"hobby"%')`;
      await executeAll(db, [
        `insert into audit_entries (id, at_ms, who, what, whom, before, after)
          select '227-' || row_number() over (order by id), ${Date.now()},
          'service', 'limit of the hobby plan', email, '{"assistant_limit":null}', '{"assistant_limit":${lapsedLimit}}'
          from accounts where ${lapsed}`,
        `update accounts set assistant_limit = ${lapsedLimit} where ${lapsed}`,
      ]);
    },
  },
  // The checks hold for earlier builds too, which know of no holds.
  "232-holds": [
    `alter table accounts add column held_thousandths bigint not null default 0
        constraint accounts_held check (held_thousandths >= 0 and held_thousandths <= credit_thousandths)`,
    ...addColumns(
      "credit_entries",
      "backend_id text, reference text, hold_id text, reverses text, number bigint",
    ),
    `alter table credit_entries add column reversed_thousandths bigint not null default 0
        constraint credit_entries_reversed check (reversed_thousandths >= 0)`,
    `create table holds (id text primary key, ${ofAccount}, backend_id text not null, thousandths bigint not null,
        reason text not null, reference text, created_at_ms bigint not null, expires_at_ms bigint not null,
        closed_as text, closed_at_ms bigint, entry_id text)`,
    "create index holds_account on holds (account_id)",
    "create index holds_open on holds (account_id, expires_at_ms) where closed_as is null",
    `create table backend_writes (backend_id text not null, key_hash text not null,
        account_id text references accounts (id) on delete cascade, body_digest text not null, answer text not null,
        written_at_ms bigint not null, primary key (backend_id, key_hash))`,
    "create index backend_writes_account on backend_writes (account_id)",
    "create table ledger_numbers (id bigint primary key, last bigint not null)",
    "insert into ledger_numbers (id, last) values (1, 0)",
  ],
  // The list of all entries numbers those that have none.
  "233-ledger-numbers": {
    credit_entries_number: "credit_entries (number) where number is not null",
    credit_entries_unnumbered: "credit_entries (created_at_ms, account_id, place, id) where number is null",
  },
  "234-backends": [
    "create table backends (id text primary key, may text not null, added_at_ms bigint not null)",
    `create table backend_keys (kid text primary key, backend_id text not null references backends (id) on delete cascade,
        public_key text not null, added_at_ms bigint not null)`,
    "alter table accounts add column reference text",
    "create unique index accounts_reference on accounts (reference) where reference is not null",
  ],
  "228-credit-limits": [
    `create table credit_limits (account_id text primary key references accounts (id) on delete cascade,
        monthly_thousandths bigint, month_ms bigint not null, spent_thousandths bigint not null,
        mail_below_thousandths bigint, low_since_ms bigint)`,
  ],
  "235-events": {
    async up(db: Kysely<unknown>) {
      const counted = ofPostgres(db)
        ? "bigint generated always as identity primary key"
        : "integer primary key autoincrement";
      await executeAll(db, [
        `create table events (seq ${counted}, id text not null unique, account_id text not null, type text not null,
          data text not null, at_ms bigint not null, number bigint, account_number bigint)`,
        "create unique index events_number on events (number) where number is not null",
        "create index events_unnumbered on events (seq) where number is null",
        "create index events_account on events (account_id, number)",
        "create index events_at on events (at_ms)",
        `create table event_numbers (id bigint primary key, last bigint not null, swept bigint not null,
          since_ms bigint not null)`,
        `insert into event_numbers (id, last, swept, since_ms) values (1, 0, 0, ${Date.now()})`,
        "create table event_counters (account_id text primary key, last bigint not null)",
        "alter table accounts add column trial_end_told_ms bigint",
        "alter table local_sessions add column end_told_ms bigint",
      ]);
    },
  },
  // What time alone ends, in the words of `events/due-events.ts`.
  "236-events-due": {
    accounts_trial_untold:
      "accounts (trial_ends_at_ms) where plan = 'trial' and (trial_end_told_ms is null or trial_end_told_ms <> trial_ends_at_ms)",
    local_sessions_end_untold:
      "local_sessions (expires_at_ms) where kind = 'app' and ended_as is null and end_told_ms is null",
    holds_due: "holds (expires_at_ms) where closed_as is null",
  },
  "237-event-triggers": { up: (db: Kysely<unknown>) => createTriggers(db, eventTriggers) },
  "229-automatic-purchases": addColumns(
    "credit_limits",
    "top_up_price text, top_up_below_thousandths bigint, top_up_most bigint, top_up_due_ms bigint, top_up_stopped text",
  ),
  // Every instance looks every ten seconds for purchases that are due or open.
  "230-automatic-purchases-due": {
    credit_limits_due: "credit_limits (top_up_due_ms) where top_up_due_ms is not null",
  },
  "238-webhooks": [
    `create table webhooks (id text primary key, url text not null, types text, sealed_secret text not null,
        sealed_former text, former_until_ms bigint, added_at_ms bigint not null, position bigint not null,
        version bigint not null, failing_since_ms bigint, stopped_at_ms bigint, lease_by text,
        lease_until_ms bigint not null)`,
    `create table webhook_deliveries (webhook_id text not null references webhooks (id) on delete cascade,
        number bigint not null, event_id text not null, account_id text not null, type text not null, state text not null,
        attempts bigint not null, first_at_ms bigint, next_at_ms bigint not null, at_ms bigint, status bigint,
        answer text, primary key (webhook_id, number))`,
    "create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, number) where state = 'waiting'",
    "create index webhook_deliveries_at on webhook_deliveries (at_ms) where state <> 'waiting'",
  ],
  // Backends list the accounts of a plan in the order of their ids.
  "231-accounts-of-a-plan": { accounts_plan_id: "accounts (plan, id)" },
  "250-plans": {
    async up(db: Kysely<unknown>) {
      const plan = (name: string, title: string, description: string, position: number) =>
        `insert into plans (name, title, description, features, limits, credit_thousandths, position)
          values ('${name}', '${title}', '${description}', '{}', '{}', 0, ${position})`;
      await executeAll(db, [
        `create table plans (name text primary key, title text not null, description text not null, features text not null,
          limits text not null, credit_thousandths bigint not null, position bigint not null, retired_at_ms bigint)`,
        plan("trial", "Trial", "To try everything, free until it ends.", 1),
        plan("hobby", "Hobby", "For a company of one, free for good.", 2),
        plan("licensed", "Licence", "For a company that works.", 3),
        "create table plan_versions (id bigint primary key, version text not null)",
        `insert into plan_versions (id, version) values (1, '${randomUUID()}')`,
        ...addColumns("accounts", "given_plan text, paid_plan text, own_features text, own_limits text"),
        ...addColumns("invitations", "given_plan text"),
        ...addColumns(
          "billing_licence_prices",
          "plan text references plans (name), place bigint, withdrawn_at_ms bigint",
        ),
      ]);
    },
  },
  "258-hook-deliveries": [
    "create table hook_deliveries (hook text primary key, accepted_at_ms bigint, refused_at_ms bigint, reason text)",
  ],
  "259-app-answers": [
    `create table app_answers (${ofAccount}, session_id text not null, told text not null, at_ms bigint not null,
        primary key (session_id, at_ms))`,
    "create index app_answers_account on app_answers (account_id, at_ms)",
    "create index app_answers_at on app_answers (at_ms)",
  ],
  // How many accounts have a licence by its plan.
  "253-licences-of-a-plan": {
    accounts_given_plan: "accounts (given_plan) where given_plan is not null",
    accounts_paid_plan: "accounts (paid_plan) where paid_plan is not null",
  },
  "251-plan-triggers": { up: (db: Kysely<unknown>) => createTriggers(db, planTriggers) },
  "245-bound-apps": addColumns("local_sessions", "bound_at_ms bigint"),
  "254-credit-months": [
    "alter table accounts add column credits_due_ms bigint default 0",
    `create table credit_months (account_id text primary key references accounts (id) on delete cascade,
        anchor_ms bigint not null, starts_ms bigint not null, plan text not null, thousandths bigint not null,
        is_paid bigint not null, is_unpaid bigint not null)`,
    ...addColumns("billing_subscriptions", "period_starts_ms bigint, cycle_anchor_ms bigint"),
  ],
  "255-credits-due": { accounts_credits_due: "accounts (credits_due_ms) where credits_due_ms is not null" },
  "222-ends-of-gifts": addColumns("accounts", "given_ends_at_ms bigint, given_after text"),
  "223-ends-of-gifts-due": {
    accounts_given_ends: "accounts (given_ends_at_ms) where given_ends_at_ms is not null",
  },
  "224-ends-of-gifts-told": { up: (db: Kysely<unknown>) => createTriggers(db, givenTriggers) },
  // When the last backup was made, which is asked for with each scrape.
  "262-audit-backups": { audit_entries_backups: "audit_entries (at_ms) where what = 'backup'" },
};

/** The email hash of migration 003. Stored rows contain it, so it must not change with today's hash. */
function hashEmailAt003(email: string): string {
  return createHash("sha256")
    .update(`corner-office:email-suppression:v1:${email.toLowerCase()}`)
    .digest("base64url");
}
