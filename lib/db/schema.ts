import { randomUUID } from "node:crypto";
import { clientInState, subjectInState } from "@/lib/db/connect-state";
import { firstTables, type TableColumns } from "@/lib/db/tables";

/** What the tables have besides the columns that builds since the first release know. */
const more: TableColumns = {
  accounts: { trial_mail_next_at_ms: "bigint" },
  operator_sessions: { former_hash: "text", former_until_ms: "bigint" },
};
const constraints: Partial<Record<keyof typeof firstTables, string>> = {
  accounts: "constraint accounts_balance check (credit_thousandths >= 0)",
  backend_writes: "primary key (backend_id, key_hash)",
  webhook_deliveries: "primary key (webhook_id, number)",
  app_answers: "primary key (session_id, at_ms)",
  connect_state: "constraint connect_state_id primary key (kind, id_hash)",
  onboarding_emails: "constraint onboarding_emails_once_each unique (account_id, kind)",
  status_outages: "constraint status_outages_key primary key (part, started_at_ms)",
};

/**
 * The schema of the first release, in SQL that both engines accept. It is the first migration and never changes: what is
 * added later stands in `migrations.ts`.
 *
 * @returns the statements
 */
export function firstSchema(isOnPostgres: boolean): string[] {
  // SQLite orders text by its bytes anyway; the order of other collations cannot find the start of an email.
  const bytesOf = (column: string) => (isOnPostgres ? `(${column} collate "C")` : column);
  const counted = isOnPostgres
    ? "bigint generated always as identity primary key"
    : "integer primary key autoincrement";
  const tables = Object.entries(firstTables).map(([table, columns]) => {
    const parts = Object.entries({ ...columns, ...more[table] }).map(
      ([name, sql]) => `${reserved.includes(name) ? `"${name}"` : name} ${sql === "counted" ? counted : sql}`,
    );
    const constraint = constraints[table as keyof typeof firstTables] ?? [];
    return `create table ${table} (${parts.concat(constraint).join(", ")})`;
  });
  const statements = `
create index accounts_trial_ending on accounts (trial_ends_at_ms)
  where plan = 'trial' and created_at_ms <= trial_ends_at_ms - 259200000
    and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms - 259200000);
create index accounts_trial_ended on accounts (trial_ends_at_ms)
  where plan = 'trial' and created_at_ms < trial_ends_at_ms
    and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms);
create index accounts_trials on accounts (trial_ends_at_ms) where plan = 'trial';
create index accounts_plan on accounts (plan, ${bytesOf("email")});
create index accounts_created on accounts (created_at_ms);
create index accounts_others on accounts (plan) where plan <> 'trial';
create index accounts_deletes on accounts (deletes_at_ms) where deletes_at_ms is not null;
create unique index accounts_reference on accounts (reference) where reference is not null;
create index accounts_trial_untold on accounts (trial_ends_at_ms)
  where plan = 'trial' and (trial_end_told_ms is null or trial_end_told_ms <> trial_ends_at_ms);
create index accounts_plan_id on accounts (plan, id);
create index accounts_given_plan on accounts (given_plan) where given_plan is not null;
create index accounts_paid_plan on accounts (paid_plan) where paid_plan is not null;
create index accounts_credits_due on accounts (credits_due_ms) where credits_due_ms is not null;
create index accounts_given_ends on accounts (given_ends_at_ms) where given_ends_at_ms is not null;
create index credit_entries_account on credit_entries (account_id);
create index credit_entries_order on credit_entries (account_id, created_at_ms, place, id);
create index credit_entries_number on credit_entries (number) where number is not null;
create index credit_entries_unnumbered on credit_entries (created_at_ms, account_id, place, id)
  where number is null;
create index holds_account on holds (account_id);
create index holds_open on holds (account_id, expires_at_ms) where closed_as is null;
create index holds_due on holds (expires_at_ms) where closed_as is null;
create index credit_limits_due on credit_limits (top_up_due_ms) where top_up_due_ms is not null;
create index backend_writes_account on backend_writes (account_id);
create unique index events_number on events (number) where number is not null;
create index events_unnumbered on events (seq) where number is null;
create index events_account on events (account_id, number);
create index events_at on events (at_ms);
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, number) where state = 'waiting';
create index webhook_deliveries_at on webhook_deliveries (at_ms) where state <> 'waiting';
create index app_answers_account on app_answers (account_id, at_ms);
create index app_answers_at on app_answers (at_ms);
create index waitlist_joined on waitlist (joined_at_ms, email);
create index waitlist_waiting on waitlist (joined_at_ms) where invited_at_ms is null;
create index waitlist_confirmation on waitlist (confirmation_hash);
create index waitlist_mailbox on waitlist (mailbox_hash);
create index waitlist_unconfirmed on waitlist (unconfirmed_until_ms);
create index invitations_email on invitations (email);
create index invitations_created on invitations (created_at_ms);
create index sign_in_codes_email on sign_in_codes (email);
create index sign_in_codes_created on sign_in_codes (created_at_ms);
create index sign_in_codes_share on sign_in_codes (email, share, created_at_ms);
create index sign_in_codes_tried on sign_in_codes (tried_at_ms) where tried_at_ms is not null;
create index sign_in_emails_until on sign_in_emails (long_code_until_ms);
create index local_sessions_account on local_sessions (account_id);
create unique index local_sessions_client on local_sessions (client_hash);
create index local_sessions_expires_at_ms on local_sessions (expires_at_ms);
create index local_sessions_end_mail on local_sessions (end_mail_at_ms) where end_mail_at_ms is not null;
create index local_sessions_made on local_sessions (made_in) where made_in is not null;
create index local_sessions_apps on local_sessions (expires_at_ms) where kind = 'app';
create index local_sessions_former on local_sessions (former_hash) where former_hash is not null;
create index local_sessions_end_untold on local_sessions (expires_at_ms)
  where kind = 'app' and ended_as is null and end_told_ms is null;
create index passkeys_account on passkeys (account_id);
create index clerk_users_email on clerk_users (email);
create index clerk_sessions_ended_at on clerk_sessions_ended (ended_at_ms);
create index connect_state_grant_id on connect_state (grant_id);
create index connect_state_look_up_hash on connect_state (look_up_hash);
create index connect_state_expires_at_ms on connect_state (expires_at_ms);
create index connect_state_pending on connect_state (kind, expires_at_ms) where grant_id is null;
create index connect_state_subject on connect_state (${subjectInState(isOnPostgres)});
create index connect_state_client on connect_state (${clientInState(isOnPostgres)}) where grant_id is not null;
create index sign_in_mails_next on sign_in_mails (next_attempt_at_ms);
create index sign_in_mail_attempts_email on sign_in_mail_attempts (email, at_ms);
create index sign_in_mail_attempts_at on sign_in_mail_attempts (at_ms);
create index sign_in_mail_failures on sign_in_mail_attempts (at_ms, id) where state <> 'sent';
create index onboarding_emails_recipient on onboarding_emails (recipient_hash);
create index onboarding_emails_scheduled on onboarding_emails (next_attempt_at_ms) where state = 'scheduled';
create index onboarding_emails_sending on onboarding_emails (lease_until_ms) where state = 'sending';
create index onboarding_emails_settled on onboarding_emails (due_at_ms)
  where state in ('sent', 'stopped', 'failed');
create index onboarding_emails_failed on onboarding_emails (next_attempt_at_ms) where state = 'failed';
create index onboarding_emails_failures on onboarding_emails (next_attempt_at_ms, id) where state = 'failed';
create index email_suppressions_created on email_suppressions (created_at_ms);
create index billing_customers_created on billing_customers (created_at_ms, account_id);
create index billing_subscriptions_account on billing_subscriptions (account_id);
create index billing_subscriptions_current on billing_subscriptions (period_ends_ms) where licence_until_ms > 0;
create index billing_subscriptions_status on billing_subscriptions (status);
create index billing_subscriptions_ends on billing_subscriptions (ends_at_ms) where ends_at_ms is not null;
create index billing_subscriptions_owing on billing_subscriptions (licence_until_ms, account_id)
  where status in ('past_due', 'unpaid');
create index billing_subscriptions_prices on billing_subscriptions (price_id) where licence_until_ms > 0;
create index billing_subscriptions_reason on billing_subscriptions (status_reason)
  where status_reason is not null;
create unique index billing_checkouts_open on billing_checkouts (account_id, kind) where state = 'open';
create index billing_checkouts_account on billing_checkouts (account_id);
create index billing_checkouts_unsettled on billing_checkouts (created_at_ms) where state in ('open', 'unpaid');
create index billing_payments_account on billing_payments (account_id);
create index billing_payments_returned on billing_payments (account_id) where returned > 0;
create index billing_payments_disputed on billing_payments (account_id) where dispute is not null;
create index billing_unclaimed_email on billing_unclaimed (email);
create index operator_passkeys_operator on operator_passkeys (operator_id);
create index operator_sessions_operator on operator_sessions (operator_id);
create index audit_entries_at on audit_entries (at_ms, id);
create index audit_entries_whom on audit_entries (whom, at_ms, id);
create index audit_entries_erasures on audit_entries (at_ms) where what = 'person erase';
create index audit_entries_who on audit_entries (who, at_ms, id);
create index audit_entries_what on audit_entries (what, at_ms, id);
create index audit_entries_who_what on audit_entries (who, what, at_ms, id);
create index audit_entries_backups on audit_entries (at_ms) where what = 'backup';
create unique index status_outages_open on status_outages (part) where ended_at_ms is null;

insert into ledger_numbers (id, last) values (1, 0);
insert into event_numbers (id, last, swept, since_ms) values (1, 0, 0, ${Date.now()});
insert into plan_versions (id, version) values (1, '${randomUUID()}');
insert into plans (name, title, description, features, limits, credit_thousandths, position) values
  ('trial', 'Trial', 'To try everything, free until it ends.', '{}', '{}', 0, 1),
  ('hobby', 'Hobby', 'For a company of one, free for good.', '{}', '{}', 0, 2),
  ('licensed', 'Licence', 'For a company that works.', '{}', '{}', 0, 3);
`;
  const onPostgres = [
    'create index accounts_email_bytes on accounts (email collate "C")',
    "alter index onboarding_emails_pkey rename to onboarding_emails_pkey1", // its name in stores of builds before
  ];
  return [...tables, ...statements.split(";").slice(0, -1), ...(isOnPostgres ? onPostgres : [])];
}

const reserved = ["before", "after"];
