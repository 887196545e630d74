import { beforeEach, describe, expect, it } from "vitest";
import { addAccount } from "@/lib/accounts/invitations";
import { scheduledOutbox } from "@/lib/auth/outbox";
import { dayMs } from "@/lib/config/durations";
import { SendError } from "@/lib/mail/mail";
import { sendDueMails } from "@/lib/mail/outbox-runner";
import { startStageForEach } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { RecordingSender } from "@/tests/support/recording-sender";

const atMs = Date.parse("2026-11-21T09:00:00Z");
const endsAtMs = atMs + 2 * dayMs;
const world = {
  ...besideDatabaseUrl,
  NODE_ENV: "production",
  LOG_LEVEL: "error",
  STRIPE_SECRET_KEY: "sk_test_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1",
  STRIPE_LICENCE_PRICES: "price_1",
};

describe.each(engines)("a mail about a licence that waits to be tried again, on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);
  let accountId: string;
  let mailSender: RecordingSender;
  let nowMs: number;

  beforeEach(async () => {
    Object.assign(process.env, world);
    [nowMs, mailSender] = [atMs, new RecordingSender()];
    const terms = { subject: "user_1", trial_ends_at_ms: atMs - dayMs };
    accountId = (await addAccount(db, "ceo@example.com", terms, atMs)).id;
    await stage.query(
      `INSERT INTO billing_customers (account_id, customer_id, created_at_ms, licence, plan_before, trial_ends_before_ms)
       VALUES ('${accountId}', 'cus_1', 0, 'given', 'trial', 0)`,
    );
    await stage.query(
      `INSERT INTO billing_subscriptions (id, account_id, status, period_ends_ms, ends_at_ms, licence_until_ms, created_at_ms, version)
       VALUES ('sub_1', '${accountId}', 'active', ${endsAtMs}, ${endsAtMs}, ${endsAtMs}, 0, 1)`,
    );
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
  });

  const round = () => sendDueMails(db, mailSender, scheduledOutbox, { now: () => nowMs });

  it.each<[string, string, number]>([
    ["nothing changes", "status = 'active'", 2],
    ["the cancellation is taken back", "ends_at_ms = NULL", 1],
    ["the end is moved", `ends_at_ms = ${endsAtMs + dayMs}, ending_mail_ms = ${endsAtMs + dayMs}`, 1],
    ["the licence is refunded", "licence_until_ms = 0", 1],
  ])("before its end: %s", async (_, columns, times) => {
    await round();
    expect(mailSender.sent).toHaveLength(1);
    await stage.query(`UPDATE billing_subscriptions SET ${columns}`);
    nowMs += 60_000;
    await round();
    const subjects = mailSender.sent.map(({ subject }) => subject);
    expect(subjects).toEqual(Array(times).fill(expect.stringMatching(/^Your licence ends on /)));
  });
});
