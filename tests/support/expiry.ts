import { emailChangeMs } from "@/lib/accounts/email-change";
import { codesKeptMs } from "@/lib/auth/codes/sign-in-code-limits";
import { dayMs } from "@/lib/config/durations";
import { answerDays, deliveryDays, eventDays, sessionDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import type { Tables } from "@/lib/db/tables";
import { outageDays } from "@/lib/status/outages";
import type { Row } from "@/tests/support/any-row";

const retentionMs = () => settings().retentionDays * dayMs;

/** A row that is over so long after an instant, by its column; `as` says what else makes it so, and `named` what tells it apart. */
type Over = { at: string; afterMs?: () => number; as?: Row; named?: string };

const settled = (state: string): Over => ({ at: "due_at_ms", afterMs: retentionMs, as: { state } });

/** When a row of each table is over, or why it stays. */
const tables: { [table in keyof Tables]: Over[] | string } = {
  accounts: "until it is erased",
  app_answers: [{ at: "at_ms", afterMs: () => answerDays * dayMs, named: "session_id" }],
  audit_entries: [{ at: "at_ms", afterMs: retentionMs }],
  backend_keys: "two a backend",
  backend_writes: "with its account; what has several, for good, because no key may write twice",
  backends: "until an operator removes it",
  billing_checkouts: "with its account",
  billing_customers: "with its account",
  billing_licence_prices: "one a price",
  billing_payments: "with its account",
  billing_progress: "one a kind",
  billing_subscriptions: "with its account",
  billing_unclaimed: "until it is claimed, refunded or erased",
  clerk_sessions_ended: [{ at: "ended_at_ms", afterMs: retentionMs }],
  clerk_users: "one a user, so that late news of one who was deleted bring nothing back",
  connect_clients: "until an operator removes it",
  connect_state: [{ at: "expires_at_ms", named: "id_hash" }],
  credit_entries: "the ledger",
  credit_limits: "with its account",
  credit_months: "with its account",
  email_changes: [
    { at: "changed_at_ms", afterMs: retentionMs },
    { at: "asked_at_ms", afterMs: () => emailChangeMs, as: { until_ms: 0 } },
    { at: "until_ms", as: { asked_at_ms: 0 } },
  ],
  email_suppressions: "for good, so that no more is mailed",
  // It goes with the last event of an account that is gone.
  event_counters: [{ at: "last", named: "account_id", as: { last: 0 } }],
  event_numbers: "one row",
  events: [{ at: "at_ms", afterMs: () => eventDays * dayMs, as: { type: "account.deleted", seq: 1 } }],
  holds: "with its account",
  hook_deliveries: "one a webhook of a provider",
  invitations: [{ at: "created_at_ms", afterMs: retentionMs }],
  ledger_numbers: "one row",
  link_keys: "for good, because links in mails work for good",
  local_sessions: [
    ...["browser", "program", "approved"].map((kind) => ({ at: "expires_at_ms", as: { kind } })),
    { at: "expires_at_ms", afterMs: () => sessionDays.ended * dayMs, as: { kind: "app" } },
  ],
  onboarding_emails: ["sent", "stopped", "failed"].map(settled),
  operator_passkeys: "until an operator removes theirs",
  operator_sessions: [{ at: "expires_at_ms" }],
  operators: "until one is removed",
  passkey_challenges: [{ at: "expires_at_ms" }],
  passkey_offers: "with its account",
  passkeys: "until their owner removes them",
  changed_plans: "until the accounts are told",
  plan_versions: "one row",
  plans: "one a plan",
  sign_in_codes: [{ at: "created_at_ms", afterMs: () => codesKeptMs }],
  sign_in_emails: [{ at: "long_code_until_ms" }],
  sign_in_mail_attempts: [{ at: "at_ms", afterMs: retentionMs }],
  sign_in_mails: [{ at: "expires_at_ms" }],
  signing_keys: "for good, so that a known key is never added again",
  site_banner: "one row",
  status_outages: [{ at: "seen_at_ms", afterMs: () => outageDays * dayMs }],
  waitlist: [{ at: "joined_at_ms", afterMs: retentionMs }, { at: "unconfirmed_until_ms" }],
  webhook_deliveries: [
    { at: "at_ms", afterMs: () => deliveryDays * dayMs, as: { state: "delivered" }, named: "event_id" },
    { at: "at_ms", afterMs: () => deliveryDays * dayMs, as: { state: "failed" }, named: "event_id" },
  ],
  webhooks: "until an operator removes it",
};

/** Each table and what makes a row of it be over. */
export const over = Object.entries(tables).flatMap(([table, kinds]) =>
  typeof kinds === "string" ? [] : kinds.map((kind) => ({ table, kind })),
);
