import { dayMs } from "@/lib/config/durations";

/**
 * Statements, for both engines, that make so many accounts, as many audit entries, half as many sessions, and a waitlist,
 * mails and unsubscribes to match.
 */
export function manyAccounts(many: number, nowMs: number): string[] {
  const rows = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const email = "'user-' || i || '@company-' || (i % 1000) || '.example.com'";
  const past = (days: number) => `${nowMs} - (i % ${days}) * ${dayMs} - i`;
  return [
    `INSERT INTO accounts (id, email, subject, plan, trial_ends_at_ms, trial_mail_done_ms, credit_thousandths, created_at_ms)
     ${rows(many)} SELECT 'acc_' || i, ${email}, 'user_' || i,
       CASE WHEN i % 10 < 6 THEN 'trial' WHEN i % 10 < 9 THEN 'licensed' ELSE 'hobby' END,
       CASE WHEN i % 10 < 6 THEN ${nowMs} + (i % 400 - 370) * ${dayMs} + i END, ${nowMs + 3650 * dayMs}, 1000, ${past(700)} FROM n`,
    `INSERT INTO audit_entries (id, at_ms, who, what, whom, before, after)
     ${rows(many)} SELECT 'entry-' || i, ${past(700)}, CASE WHEN i % 50 = 0 THEN 'operator ann' ELSE 'owner' END,
       CASE WHEN i % 3 = 0 THEN 'sign in' WHEN i % 3 = 1 THEN 'token' ELSE 'account set' END, ${email}, NULL, '{"plan":"trial"}' FROM n`,
    `INSERT INTO local_sessions (id, account_id, expires_at_ms, kind, name, begun_at_ms)
     ${rows(many / 2)} SELECT 'sess_' || i, 'acc_' || i, ${nowMs} + ${7 * dayMs}, CASE WHEN i % 4 = 0 THEN 'app' ELSE 'browser' END, 'Chromium on Linux', ${past(7)} FROM n`,
    `INSERT INTO billing_customers (account_id, customer_id, created_at_ms, licence)
     ${rows(many / 2)} SELECT 'acc_' || i, 'cus_' || i, ${past(700)}, 'given' FROM n`,
    `INSERT INTO billing_subscriptions (id, account_id, status, price_id, period_ends_ms, ends_at_ms, licence_until_ms, version, created_at_ms)
     ${rows(many / 2)} SELECT 'sub_' || i, 'acc_' || i, CASE WHEN i % 100 = 0 THEN 'past_due' WHEN i % 100 = 1 THEN 'paused' ELSE 'active' END,
       'price_1', ${nowMs + dayMs}, CASE WHEN i % 100 = 2 THEN ${nowMs + dayMs} END, ${nowMs + dayMs}, 1, ${past(700)} FROM n`,
    `INSERT INTO billing_payments (id, account_id, bought, amount, returned, dispute, currency, paid_at_ms)
     ${rows(many / 2)} SELECT 'ch_' || i, 'acc_' || i, 'sub_' || i, 4900, CASE WHEN i % 100 = 3 THEN 100 ELSE 0 END,
       CASE WHEN i % 100 = 4 THEN 'open' END, 'eur', ${past(700)} FROM n`,
    `INSERT INTO waitlist (email, joined_at_ms) ${rows(many / 50)} SELECT 'waits-' || i || '@example.com', ${past(30)} FROM n`,
    `INSERT INTO email_suppressions (email_hash, created_at_ms) ${rows(many / 20)} SELECT 'hash-' || i, ${past(300)} FROM n`,
    `INSERT INTO sign_in_mail_attempts (id, email, kind, at_ms, state, failure)
     ${rows(many / 10)} SELECT 'mail-' || i, ${email}, 'code', ${past(700)}, CASE WHEN i % 20 = 0 THEN 'failed' ELSE 'sent' END, NULL FROM n`,
    `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms, failure)
     ${rows(many / 4)} SELECT 'onboarding-' || i, 'acc_' || i, 'h' || i, 'welcome', ${past(700)}, CASE WHEN i % 10 = 0 THEN 'failed' ELSE 'sent' END, ${past(700)}, '552 Mailbox full' FROM n`,
  ];
}

/** The email of one of them. */
export const emailOfMany = (many: number) => `user-${many / 2}@company-${(many / 2) % 1000}.example.com`;
