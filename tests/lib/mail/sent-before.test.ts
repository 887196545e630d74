import { beforeEach, describe, expect, it } from "vitest";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { dayMs } from "@/lib/config/durations";
import { onboardingOutbox } from "@/lib/mail/outbox/onboarding-outbox";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { outbox, scheduledOutbox } from "@/lib/mail/outbox/outboxes";
import { takeAsSent } from "@/lib/mail/outbox/sent-before";
import { noPrice } from "@/lib/mail/prices";
import { startStageForEach } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { RecordingSender } from "@/tests/support/recording-sender";

const atMs = Date.parse("2026-11-14T09:00:00Z");
const email = "ceo@example.com";

/** A store of the 14th, from which the service is to go on three days and a half later. */
describe.each(engines)("mails of a store that was restored, on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);
  beforeEach(async () => {
    Object.assign(process.env, { ...besideDatabaseUrl, NODE_ENV: "production", LOG_LEVEL: "error" });
    await addAccount(db, email, { subject: "user_1", trial_ends_at_ms: atMs + 5 * dayMs }, atMs);
    await enqueueMail(
      db,
      { kind: "farewell", to: "gone@example.com", atMs },
      { nowMs: atMs, untilMs: atMs + 9 * dayMs },
    );
  });

  const sentAt = async (nowMs: number) => {
    const mailSender = new RecordingSender();
    for (const from of [outbox, scheduledOutbox(noPrice), onboardingOutbox])
      await sendDueMails(db, mailSender, from as typeof outbox, { now: () => nowMs });
    return mailSender.sent.map(({ subject }) => subject);
  };

  it("are sent again without the operator's word", async () => {
    expect(await sentAt(atMs + 3.5 * dayMs)).toEqual([
      "Your account is deleted",
      expect.stringContaining("Your trial ends on"),
    ]);
  });

  it("are not sent again if they were due while the service ran, and later ones are", async () => {
    expect(await takeAsSent(db, atMs + 3 * dayMs, "operator", atMs + 3.5 * dayMs)).toBe(4);
    expect(await sentAt(atMs + 3.5 * dayMs)).toEqual([]);
    expect(await sentAt(atMs + 5 * dayMs)).toEqual(["Your trial has ended"]);
    const [entry] = await stage.query("SELECT who, whom, after FROM audit_entries WHERE what LIKE 'mails%'");
    expect(entry).toMatchObject({ whom: null, after: '{"mails":4,"until":"2026-11-17T09:00:00.000Z"}' });
  });
});
