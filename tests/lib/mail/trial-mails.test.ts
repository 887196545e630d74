import { beforeEach, describe, expect, it } from "vitest";
import { deleteAccount, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/invitations";
import { scheduledOutbox } from "@/lib/auth/outbox";
import { dayMs } from "@/lib/config/durations";
import { deriveMailId, SendError } from "@/lib/mail/mail";
import { sendDueMails } from "@/lib/mail/outbox-runner";
import { suppressEmail } from "@/lib/mail/unsubscribe";
import { startStageForEach } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { RecordingSender } from "@/tests/support/recording-sender";
import { Service } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";

const atMs = Date.parse("2026-11-14T09:00:00Z");
const minuteMs = 60_000;
const endsAtMs = atMs + 14 * dayMs;
const email = "ceo@example.com";
const world = { ...besideDatabaseUrl, NODE_ENV: "production", LOG_LEVEL: "error" };

describe.each(engines)("the mails about the end of a trial, on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);
  let nowMs: number;
  let mailSender: RecordingSender;

  beforeEach(async () => {
    Object.assign(process.env, world);
    [nowMs, mailSender] = [atMs, new RecordingSender()];
    await addAccount(db, email, { subject: "user_1", trial_ends_at_ms: endsAtMs }, atMs);
  });

  const roundAt = (ms: number) => {
    nowMs = ms;
    return sendDueMails(db, mailSender, scheduledOutbox, { now: () => nowMs });
  };
  const extendTo = (trial_ends_at_ms: number) => setAccount(db, email, { trial_ends_at_ms }, nowMs);
  const subjects = () => mailSender.sent.map(({ subject }) => subject);
  const ending = expect.stringMatching(/^Your trial ends on Saturday,? 28 November 2026 at 09:00 UTC$/);
  const ended = "Your trial has ended";

  it("are sent three days before the end and at the end, once each", async () => {
    await roundAt(endsAtMs - 3 * dayMs - 1);
    expect(mailSender.sent).toEqual([]);
    await roundAt(endsAtMs - 3 * dayMs);
    await roundAt(endsAtMs - 1);
    expect(subjects()).toEqual([ending]);
    for (const ms of [0, 1, minuteMs, dayMs, 30 * dayMs]) await roundAt(endsAtMs + ms);
    expect(subjects()).toEqual([ending, ended]);
    expect(mailSender.sent.every(({ to }) => to === email)).toBe(true);
    expect(new Set(mailSender.sent.map(({ id }) => id)).size).toBe(2);
  });

  it("are sent once by five instances at once", async () => {
    const instances = await Promise.all(Array.from({ length: 5 }, stage.open));
    for (let n = 0; n < 15; n++)
      await addAccount(db, `${n}@example.com`, { subject: `user-${n}`, trial_ends_at_ms: endsAtMs }, atMs);
    nowMs = endsAtMs;
    await Promise.all(
      instances.map((by) => sendDueMails(by, mailSender, scheduledOutbox, { now: () => nowMs })),
    );
    await roundAt(endsAtMs + 20_000);
    expect(mailSender.sent).toHaveLength(16);
    expect(new Set(mailSender.sent.map(({ to }) => to)).size).toBe(16);
  });

  it("are left out when their time was missed by two days", async () => {
    await roundAt(endsAtMs - dayMs);
    expect(mailSender.sent).toEqual([]);
    await roundAt(endsAtMs + 2 * dayMs);
    expect(mailSender.sent).toEqual([]);
  });

  it("are not sent again after the clock was set back", async () => {
    await roundAt(endsAtMs - 3 * dayMs);
    await roundAt(endsAtMs);
    await roundAt(endsAtMs - 3 * dayMs);
    await roundAt(endsAtMs);
    expect(subjects()).toEqual([ending, ended]);
  });

  it("move with the end, and are sent about the new one", async () => {
    await roundAt(endsAtMs - 3 * dayMs);
    await extendTo(endsAtMs + 7 * dayMs);
    await roundAt(endsAtMs);
    expect(subjects()).toEqual([ending]);
    await roundAt(endsAtMs + 4 * dayMs);
    await roundAt(endsAtMs + 7 * dayMs);
    expect(mailSender.sent).toHaveLength(3);
    expect(subjects().at(1)).toMatch(/5 December 2026 at 09:00 UTC$/);
    expect(subjects().at(2)).toBe(ended);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["is extended", () => extendTo(endsAtMs + 30 * dayMs)],
    ["becomes a licence", () => setAccount(db, email, { plan: "licensed" }, nowMs)],
    ["is deleted with its account", () => deleteAccount(db, email, nowMs)],
  ])("are not sent again if the trial %s between two attempts", async (_, change) => {
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
    await roundAt(endsAtMs);
    await change();
    await roundAt(endsAtMs + minuteMs);
    expect(mailSender.sent).toHaveLength(1);
    expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]);
  });

  it("are taken with what tells the build before that they are done, and with its ids", async () => {
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
    await roundAt(endsAtMs);
    const [row] = await db.selectFrom("accounts").selectAll().execute();
    expect(row).toMatchObject({ trial_mail_done_ms: endsAtMs });
    expect(mailSender.sent[0]?.id).toBe(deriveMailId(`trial-ended:v1:${row?.id}:${endsAtMs}`));
  });

  it("go on after the onboarding emails were stopped, because they are about the account", async () => {
    await suppressEmail(db, email, nowMs);
    await roundAt(endsAtMs);
    expect(subjects()).toEqual([ended]);
    expect(mailSender.sent[0]?.headers).toEqual({ "Auto-Submitted": "auto-generated" });
  });

  it("spare a trial of two days the first mail, and one of no length both", async () => {
    await extendTo(atMs + 2 * dayMs);
    await roundAt(atMs);
    expect(mailSender.sent).toEqual([]);
    await roundAt(atMs + 2 * dayMs);
    expect(subjects()).toEqual([ended]);
    await addAccount(db, "over@example.com", { subject: "user_2", trial_ends_at_ms: nowMs - 1 }, nowMs);
    await roundAt(nowMs);
    expect(mailSender.sent).toHaveLength(1);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["has a licence by then", () => setAccount(db, email, { plan: "licensed" }, nowMs)],
    ["is on the hobby plan by then", () => setAccount(db, email, { plan: "hobby" }, nowMs)],
    ["was deleted", () => deleteAccount(db, email, nowMs)],
    [
      "belongs to no one who can sign in, as after an erasure",
      () => stage.query("UPDATE accounts SET subject = NULL"),
    ],
  ])("are not sent if the account %s", async (_, change) => {
    await change();
    await roundAt(endsAtMs);
    await roundAt(endsAtMs + 60 * minuteMs);
    expect(mailSender.sent).toEqual([]);
  });
});

describe("`emails send-due`", () => {
  it("sends the mail at the end of a trial, and no onboarding mail that is due after it", async () => {
    const clock = makeClock();
    const service = await Service.make({ SIGN_IN: "local", ...clock.environment });
    await service.adminJson("account", "add", email, "--trial-days", "1");
    await service.adminJson("emails", "send-due");
    clock.pass(dayMs);
    for (let n = 0; n < 2; n++) await service.adminJson("emails", "send-due");
    const mails = await mailsTo(service.dataDir, email);
    expect(mails.map(({ subject }) => subject)).toEqual([
      "Welcome to your corner office",
      "Your trial has ended",
    ]);
    const series = await service.adminJson<{ kind: string; state: string }[]>("emails", "list", email);
    expect(series[1]).toMatchObject({ kind: "first-assistant", state: "stopped" });
  });
  it("sends the owner to the page that sells licences, if there is one", async () => {
    const [clock, stripe] = [makeClock(), await StripeStandIn.start()];
    const service = await Service.make({ SIGN_IN: "local", ...stripe.environment, ...clock.environment });
    await service.adminJson("account", "add", email, "--trial-days", "1");
    clock.pass(dayMs);
    await service.adminJson("emails", "send-due");
    await stripe.stop();
    const mail = (await mailsTo(service.dataDir, email)).find(
      ({ subject }) => subject === "Your trial has ended",
    );
    expect(mail?.text).toContain("You can buy one on your billing page.");
  });
});
