import { randomUUID } from "node:crypto";

/**
 * The schema of the first release, by table, in SQL that both engines accept. It is the first migration and never changes:
 * what is added later stands in `migrations.ts`, and what each column means in `tables.ts`.
 *
 * @returns the statements
 */
export function firstSchema(isOnPostgres: boolean): string[] {
  // SQLite orders text by its bytes anyway; the order of other collations cannot find the start of an email.
  const bytesOf = (column: string) => (isOnPostgres ? `(${column} collate "C")` : column);
  const counted = isOnPostgres
    ? "bigint generated always as identity primary key"
    : "integer primary key autoincrement";
  // The expressions of lib/db/connect-state.ts.
  const ownerOf = isOnPostgres
    ? `substring(payload from '"accountId":"([^"]+)"')`
    : "case when json_valid(payload) then coalesce(payload ->> '$.accountId', payload ->> '$.result.login.accountId') end";
  const clientOf = isOnPostgres
    ? `substring(payload from '"clientId":"([^"]{1,100})')`
    : "case when json_valid(payload) then substr(payload ->> '$.clientId', 1, 100) end";
  const statements = `
create table accounts (
  id text primary key, email text not null unique, subject text unique, plan text not null,
  trial_ends_at_ms bigint, assistant_limit bigint, credit_thousandths bigint not null default 0,
  created_at_ms bigint not null, app_end_mails_stopped_at_ms bigint, trial_mail_done_ms bigint,
  trial_mail_next_at_ms bigint, deletes_at_ms bigint,
  held_thousandths bigint not null default 0
    constraint accounts_held check (held_thousandths >= 0 and held_thousandths <= credit_thousandths),
  reference text, trial_end_told_ms bigint, given_plan text, paid_plan text, own_features text, own_limits text,
  credits_due_ms bigint default 0, given_ends_at_ms bigint, given_after text,
  constraint accounts_balance check (credit_thousandths >= 0)
);
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

create table credit_entries (
  id text primary key, account_id text not null references accounts (id) on delete cascade,
  thousandths bigint not null, reason text not null, created_at_ms bigint not null,
  place bigint not null default 0, checkout text, price_id text, amount bigint, currency text, backend_id text,
  reference text, hold_id text, reverses text, number bigint,
  reversed_thousandths bigint not null default 0
    constraint credit_entries_reversed check (reversed_thousandths >= 0)
);
create index credit_entries_account on credit_entries (account_id);
create index credit_entries_order on credit_entries (account_id, created_at_ms, place, id);
create index credit_entries_number on credit_entries (number) where number is not null;
create index credit_entries_unnumbered on credit_entries (created_at_ms, account_id, place, id)
  where number is null;

create table holds (
  id text primary key, account_id text not null references accounts (id) on delete cascade,
  backend_id text not null, thousandths bigint not null, reason text not null, reference text,
  created_at_ms bigint not null, expires_at_ms bigint not null, closed_as text, closed_at_ms bigint,
  entry_id text
);
create index holds_account on holds (account_id);
create index holds_open on holds (account_id, expires_at_ms) where closed_as is null;
create index holds_due on holds (expires_at_ms) where closed_as is null;

create table credit_limits (
  account_id text primary key references accounts (id) on delete cascade, monthly_thousandths bigint,
  month_ms bigint not null, spent_thousandths bigint not null, mail_below_thousandths bigint,
  low_since_ms bigint, top_up_price text, top_up_below_thousandths bigint, top_up_most bigint,
  top_up_due_ms bigint, top_up_stopped text
);
create index credit_limits_due on credit_limits (top_up_due_ms) where top_up_due_ms is not null;

create table credit_months (
  account_id text primary key references accounts (id) on delete cascade, anchor_ms bigint not null,
  starts_ms bigint not null, plan text not null, thousandths bigint not null, is_paid bigint not null,
  is_unpaid bigint not null
);

create table ledger_numbers (id bigint primary key, last bigint not null);

create table plans (
  name text primary key, title text not null, description text not null, features text not null,
  limits text not null, credit_thousandths bigint not null, position bigint not null, retired_at_ms bigint
);

create table plan_versions (id bigint primary key, version text not null);
create table backends (id text primary key, may text not null, added_at_ms bigint not null);

create table backend_keys (
  kid text primary key, backend_id text not null references backends (id) on delete cascade,
  public_key text not null, added_at_ms bigint not null
);

create table backend_writes (
  backend_id text not null, key_hash text not null, account_id text references accounts (id) on delete cascade,
  body_digest text not null, answer text not null, written_at_ms bigint not null,
  primary key (backend_id, key_hash)
);
create index backend_writes_account on backend_writes (account_id);

create table events (
  seq ${counted}, id text not null unique, account_id text not null, type text not null, data text not null,
  at_ms bigint not null, number bigint, account_number bigint
);
create unique index events_number on events (number) where number is not null;
create index events_unnumbered on events (seq) where number is null;
create index events_account on events (account_id, number);
create index events_at on events (at_ms);

create table event_numbers (
  id bigint primary key, last bigint not null, swept bigint not null, since_ms bigint not null
);

create table event_counters (account_id text primary key, last bigint not null);

create table webhooks (
  id text primary key, url text not null, types text, sealed_secret text not null, sealed_former text,
  former_until_ms bigint, added_at_ms bigint not null, position bigint not null, version bigint not null,
  failing_since_ms bigint, stopped_at_ms bigint, lease_by text, lease_until_ms bigint not null
);

create table webhook_deliveries (
  webhook_id text not null references webhooks (id) on delete cascade, number bigint not null,
  event_id text not null, account_id text not null, type text not null, state text not null,
  attempts bigint not null, first_at_ms bigint, next_at_ms bigint not null, at_ms bigint, status bigint,
  answer text, primary key (webhook_id, number)
);
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, number) where state = 'waiting';
create index webhook_deliveries_at on webhook_deliveries (at_ms) where state <> 'waiting';

create table app_answers (
  account_id text not null references accounts (id) on delete cascade, session_id text not null,
  told text not null, at_ms bigint not null, primary key (session_id, at_ms)
);
create index app_answers_account on app_answers (account_id, at_ms);
create index app_answers_at on app_answers (at_ms);

create table waitlist (
  email text primary key, joined_at_ms bigint not null, invited_at_ms bigint, confirmation_hash text,
  confirmation_mailed_at_ms bigint, confirmed_at_ms bigint, unconfirmed_until_ms bigint, mailbox_hash text
);
create index waitlist_joined on waitlist (joined_at_ms, email);
create index waitlist_waiting on waitlist (joined_at_ms) where invited_at_ms is null;
create index waitlist_confirmation on waitlist (confirmation_hash);
create index waitlist_mailbox on waitlist (mailbox_hash);
create index waitlist_unconfirmed on waitlist (unconfirmed_until_ms);

create table invitations (
  id text primary key, email text not null, token_hash text unique, plan text not null, trial_ends_at_ms bigint,
  trial_days bigint, assistant_limit bigint, credit_thousandths bigint, created_at_ms bigint not null,
  expires_at_ms bigint not null, accepted_at_ms bigint, given_plan text
);
create index invitations_email on invitations (email);
create index invitations_created on invitations (created_at_ms);

create table sign_in_codes (
  browser_hash text primary key, email text not null, code_hash text not null, tries bigint not null,
  created_at_ms bigint not null, expires_at_ms bigint not null, share text not null default 'stranger',
  asker_hash text, characters bigint, tried_at_ms bigint
);
create index sign_in_codes_email on sign_in_codes (email);
create index sign_in_codes_created on sign_in_codes (created_at_ms);
create index sign_in_codes_share on sign_in_codes (email, share, created_at_ms);
create index sign_in_codes_tried on sign_in_codes (tried_at_ms) where tried_at_ms is not null;

create table sign_in_emails (
  email text primary key, long_code_hash text not null, long_code_until_ms bigint not null
);
create index sign_in_emails_until on sign_in_emails (long_code_until_ms);

create table local_sessions (
  id text primary key, account_id text not null references accounts (id) on delete cascade,
  expires_at_ms bigint not null, client_hash text, kind text, name text, begun_at_ms bigint,
  last_seen_at_ms bigint, made_in text references local_sessions (id) on delete cascade, clerk_session text,
  end_mail_at_ms bigint, confirmed_at_ms bigint, confirmed_by text, begun_by text, begun_in text, network text,
  former_hash text, former_until_ms bigint, app_origin text, last_date_ms bigint, ended_as text,
  checked_at_ms bigint, told text, renewed_from text, in_turn_since_ms bigint, end_told_ms bigint,
  bound_at_ms bigint
);
create index local_sessions_account on local_sessions (account_id);
create unique index local_sessions_client on local_sessions (client_hash);
create index local_sessions_expires_at_ms on local_sessions (expires_at_ms);
create index local_sessions_end_mail on local_sessions (end_mail_at_ms) where end_mail_at_ms is not null;
create index local_sessions_made on local_sessions (made_in) where made_in is not null;
create index local_sessions_apps on local_sessions (expires_at_ms) where kind = 'app';
create index local_sessions_former on local_sessions (former_hash) where former_hash is not null;
create index local_sessions_end_untold on local_sessions (expires_at_ms)
  where kind = 'app' and ended_as is null and end_told_ms is null;

create table passkeys (
  id text primary key, account_id text not null references accounts (id) on delete cascade,
  credential_id text not null unique, rp_id text not null, public_key text not null, counter bigint not null,
  name text not null, added_at_ms bigint not null, last_used_at_ms bigint
);
create index passkeys_account on passkeys (account_id);

create table passkey_challenges (challenge text primary key, expires_at_ms bigint not null);

create table passkey_offers (
  account_id text primary key references accounts (id) on delete cascade, declined_at_ms bigint not null
);

create table signing_keys (
  kid text primary key, place bigint not null unique, issuer text not null, sealed_key text,
  made_at_ms bigint not null, signs_from_ms bigint, verifies_until_ms bigint, revoked_at_ms bigint
);

create table link_keys (id text primary key, sealed_key text not null, makes_from_ms bigint not null);

create table clerk_users (
  id text primary key, email text not null, updated_at_ms bigint not null, is_deleted bigint not null default 0,
  barred_until_ms bigint, barred_told_at_ms bigint
);
create index clerk_users_email on clerk_users (email);

create table clerk_sessions_ended (id text primary key, ended_at_ms bigint not null);
create index clerk_sessions_ended_at on clerk_sessions_ended (ended_at_ms);

create table connect_clients (
  id text primary key, name text not null, redirect_uris text not null, added_at_ms bigint not null
);

create table connect_state (
  kind text not null, id_hash text not null, payload text not null, grant_id text, look_up_hash text,
  consumed_at_ms bigint, expires_at_ms bigint not null, parent_hash text,
  constraint connect_state_id primary key (kind, id_hash)
);
create index connect_state_grant_id on connect_state (grant_id);
create index connect_state_look_up_hash on connect_state (look_up_hash);
create index connect_state_expires_at_ms on connect_state (expires_at_ms);
create index connect_state_pending on connect_state (kind, expires_at_ms) where grant_id is null;
create index connect_state_subject on connect_state (${ownerOf});
create index connect_state_client on connect_state (${clientOf}) where grant_id is not null;

create table sign_in_mails (
  id text primary key, kind text not null, sealed text not null, attempts bigint not null default 0,
  next_attempt_at_ms bigint not null, expires_at_ms bigint not null
);
create index sign_in_mails_next on sign_in_mails (next_attempt_at_ms);

create table sign_in_mail_attempts (
  id text primary key, email text not null, kind text not null, at_ms bigint not null, state text not null,
  failure text
);
create index sign_in_mail_attempts_email on sign_in_mail_attempts (email, at_ms);
create index sign_in_mail_attempts_at on sign_in_mail_attempts (at_ms);
create index sign_in_mail_failures on sign_in_mail_attempts (at_ms, id) where state <> 'sent';

create table onboarding_emails (
  id text primary key, account_id text not null, recipient_hash text not null, kind text not null,
  due_at_ms bigint not null, state text not null, next_attempt_at_ms bigint not null,
  attempts bigint not null default 0, first_attempt_at_ms bigint, lease_until_ms bigint, failure text,
  constraint onboarding_emails_once_each unique (account_id, kind)
);
create index onboarding_emails_recipient on onboarding_emails (recipient_hash);
create index onboarding_emails_scheduled on onboarding_emails (next_attempt_at_ms) where state = 'scheduled';
create index onboarding_emails_sending on onboarding_emails (lease_until_ms) where state = 'sending';
create index onboarding_emails_settled on onboarding_emails (due_at_ms)
  where state in ('sent', 'stopped', 'failed');
create index onboarding_emails_failed on onboarding_emails (next_attempt_at_ms) where state = 'failed';
create index onboarding_emails_failures on onboarding_emails (next_attempt_at_ms, id) where state = 'failed';

create table email_suppressions (email_hash text primary key, created_at_ms bigint not null);
create index email_suppressions_created on email_suppressions (created_at_ms);

create table billing_customers (
  account_id text primary key references accounts (id) on delete cascade, customer_id text not null unique,
  created_at_ms bigint not null, licence text, plan_before text, trial_ends_before_ms bigint,
  limit_before bigint, limit_given bigint
);
create index billing_customers_created on billing_customers (created_at_ms, account_id);

create table billing_subscriptions (
  id text primary key, account_id text not null references accounts (id) on delete cascade,
  status text not null, assistant_limit bigint, period_ends_ms bigint not null, ends_at_ms bigint,
  licence_until_ms bigint not null, version bigint not null, created_at_ms bigint not null, last_event text,
  last_event_at_ms bigint, unpaid_since_ms bigint, price_id text, invoice_id text, invoice_status text,
  amount_due bigint, currency text, ending_mail_ms bigint, status_reason text, open_invoices bigint,
  period_starts_ms bigint, cycle_anchor_ms bigint
);
create index billing_subscriptions_account on billing_subscriptions (account_id);
create index billing_subscriptions_current on billing_subscriptions (period_ends_ms) where licence_until_ms > 0;
create index billing_subscriptions_status on billing_subscriptions (status);
create index billing_subscriptions_ends on billing_subscriptions (ends_at_ms) where ends_at_ms is not null;
create index billing_subscriptions_owing on billing_subscriptions (licence_until_ms, account_id)
  where status in ('past_due', 'unpaid');
create index billing_subscriptions_prices on billing_subscriptions (price_id) where licence_until_ms > 0;
create index billing_subscriptions_reason on billing_subscriptions (status_reason)
  where status_reason is not null;

create table billing_checkouts (
  id text primary key, account_id text not null references accounts (id) on delete cascade, kind text not null,
  price_id text not null, thousandths bigint not null, state text not null, session_id text unique,
  refunded_thousandths bigint not null default 0, created_at_ms bigint not null, last_event text,
  last_event_at_ms bigint, taken_thousandths bigint
);
create unique index billing_checkouts_open on billing_checkouts (account_id, kind) where state = 'open';
create index billing_checkouts_account on billing_checkouts (account_id);
create index billing_checkouts_unsettled on billing_checkouts (created_at_ms) where state in ('open', 'unpaid');

create table billing_payments (
  id text primary key, account_id text not null references accounts (id) on delete cascade,
  bought text not null, amount bigint not null, returned bigint not null, dispute text, currency text not null,
  paid_at_ms bigint not null
);
create index billing_payments_account on billing_payments (account_id);
create index billing_payments_returned on billing_payments (account_id) where returned > 0;
create index billing_payments_disputed on billing_payments (account_id) where dispute is not null;

create table billing_unclaimed (id text primary key, email text not null, created_at_ms bigint not null);
create index billing_unclaimed_email on billing_unclaimed (email);

create table billing_progress (id text primary key, through_ms bigint not null);

create table billing_licence_prices (
  id text primary key, assistant_limit bigint, sold_at_ms bigint not null, plan text references plans (name),
  place bigint, withdrawn_at_ms bigint
);

create table operators (
  id text primary key, name text not null unique, added_at_ms bigint not null, link_hash text unique,
  link_until_ms bigint
);

create table operator_passkeys (
  credential_id text primary key, operator_id text not null references operators (id) on delete cascade,
  rp_id text not null, public_key text not null, counter bigint not null, added_at_ms bigint not null,
  last_used_at_ms bigint
);
create index operator_passkeys_operator on operator_passkeys (operator_id);

create table operator_sessions (
  id_hash text primary key, operator_id text not null references operators (id) on delete cascade,
  begun_at_ms bigint not null, last_used_at_ms bigint not null, expires_at_ms bigint not null,
  proved_at_ms bigint not null, former_hash text, former_until_ms bigint
);
create index operator_sessions_operator on operator_sessions (operator_id);

create table audit_entries (
  id text primary key, at_ms bigint not null, who text not null, what text not null, whom text, "before" text,
  "after" text
);
create index audit_entries_at on audit_entries (at_ms, id);
create index audit_entries_whom on audit_entries (whom, at_ms, id);
create index audit_entries_erasures on audit_entries (at_ms) where what = 'person erase';
create index audit_entries_who on audit_entries (who, at_ms, id);
create index audit_entries_what on audit_entries (what, at_ms, id);
create index audit_entries_who_what on audit_entries (who, what, at_ms, id);
create index audit_entries_backups on audit_entries (at_ms) where what = 'backup';

create table hook_deliveries (hook text primary key, accepted_at_ms bigint, refused_at_ms bigint, reason text);

create table site_banner (
  id bigint primary key, kind text not null, message text not null, starts_at_ms bigint, ends_at_ms bigint,
  announced_at_ms bigint
);

create table status_outages (
  part text not null, started_at_ms bigint not null, seen_at_ms bigint not null, ended_at_ms bigint,
  constraint status_outages_key primary key (part, started_at_ms)
);
create unique index status_outages_open on status_outages (part) where ended_at_ms is null;

insert into ledger_numbers (id, last) values (1, 0);
insert into event_numbers (id, last, swept, since_ms) values (1, 0, 0, ${Date.now()});
insert into plan_versions (id, version) values (1, '${randomUUID()}');
insert into plans (name, title, description, features, limits, credit_thousandths, position) values
  ('trial', 'Trial', 'To try everything, free until it ends.', '{}', '{}', 0, 1),
  ('hobby', 'Hobby', 'For a company of one, free for good.', '{}', '{}', 0, 2),
  ('licensed', 'Licence', 'For a company that works.', '{}', '{}', 0, 3);
`;
  const more = [
    'create index accounts_email_bytes on accounts (email collate "C")',
    "alter index onboarding_emails_pkey rename to onboarding_emails_pkey1", // its name in stores of builds before
  ];
  return [...statements.split(";").slice(0, -1), ...(isOnPostgres ? more : [])];
}
