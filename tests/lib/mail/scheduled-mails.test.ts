import { beforeEach, describe, expect, it } from "vitest";
import { deleteAccount, setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { addPriceToPlan } from "@/lib/accounts/terms/plan-changes";
import { dayMs } from "@/lib/config/durations";
import { mailKinds } from "@/lib/mail/kinds";
import { deriveMailId, SendError } from "@/lib/mail/mail";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { scheduledOutbox } from "@/lib/mail/outbox/outboxes";
import { noPrice } from "@/lib/mail/prices";
import { suppressEmail } from "@/lib/mail/unsubscribe";
import { startAppSession } from "@/lib/oauth/app-session";
import { startStageForEach } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { manyAccounts } from "@/tests/support/many-accounts";
import { RecordingSender } from "@/tests/support/recording-sender";
import { Service } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import { watchQueries } from "@/tests/support/watched-queries";

const atMs = Date.parse("2026-11-14T09:00:00Z");
const minuteMs = 60_000;
const email = "ceo@example.com";
const world = {
  ...besideDatabaseUrl,
  NODE_ENV: "production",
  LOG_LEVEL: "error",
  STRIPE_SECRET_KEY: "sk_test_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1",
  STRIPE_LICENCE_PRICES: "price_1",
};

describe.each(engines)("mails that a date makes due, on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);
  let nowMs: number;
  let mailSender: RecordingSender;

  beforeEach(() => {
    Object.assign(process.env, world);
    [nowMs, mailSender] = [atMs, new RecordingSender()];
  });

  const round = () => sendDueMails(db, mailSender, scheduledOutbox(noPrice), { now: () => nowMs });
  const roundAt = (ms: number) => {
    nowMs = ms;
    return round();
  };
  const subjects = () => mailSender.sent.map(({ subject }) => subject);
  const busy = new SendError("smtp: 451 RCPT TO", { mayRetry: true });

  describe("about the end of a trial", () => {
    const endsAtMs = atMs + 14 * dayMs;
    beforeEach(() => addAccount(db, email, { subject: "user_1", trial_ends_at_ms: endsAtMs }, atMs));

    const extendTo = (trial_ends_at_ms: number) => setAccount(db, email, { trial_ends_at_ms }, nowMs);
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
      for (const { text } of mailSender.sent) expect(text).toContain("Choose a plan");
    });

    it("say whom to ask where no plan is sold", async () => {
      const price = { id: "price_1", titles: ["Office"], limit: 12, isSold: false };
      await addPriceToPlan(db, price, nowMs);
      await roundAt(endsAtMs - 3 * dayMs);
      await roundAt(endsAtMs);
      for (const { text } of mailSender.sent) {
        expect(text).toContain("For a plan, write to help@example.com");
        expect(text).not.toMatch(/choose a plan/i);
      }
      expect(mailSender.sent).toHaveLength(2);
    });

    it.each([
      [null, "09:00 UTC", "Saturday,? 28"],
      ["Europe/Berlin", "10:00 Central European Standard Time", "Saturday,? 28"],
      ["Australia/Sydney", "20:00 Australian Eastern Daylight Time", "Saturday,? 28"],
      ["Pacific/Kiritimati", "23:00 Line Islands Time", "Saturday,? 28"],
      ["Mars/Olympus", "09:00 UTC", "Saturday,? 28"],
    ])("name it in the owner's time zone, %s: %s", async (time_zone, time, day) => {
      await stage.query(`UPDATE accounts SET time_zone = ${time_zone && `'${time_zone}'`}`);
      await roundAt(endsAtMs - 3 * dayMs);
      await roundAt(endsAtMs);
      const when = `${day} November 2026 at ${time}`;
      const [soon, over] = mailSender.sent;
      expect(soon?.subject).toMatch(new RegExp(`^Your trial ends on ${when}$`));
      expect(soon?.html).toMatch(new RegExp(`>Your trial ends on ${when}</h1>`));
      expect(over?.text).toMatch(new RegExp(`^Trial ended: ${when}$`, "m"));
    });

    it("are sent once by five instances at once", async () => {
      const instances = await Promise.all(Array.from({ length: 5 }, stage.open));
      for (let n = 0; n < 15; n++)
        await addAccount(db, `${n}@example.com`, { subject: `user-${n}`, trial_ends_at_ms: endsAtMs }, atMs);
      nowMs = endsAtMs;
      await Promise.all(
        instances.map((by) => sendDueMails(by, mailSender, scheduledOutbox(noPrice), { now: () => nowMs })),
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
      ["is deleted with its account", () => deleteAccount(db, email, "operator", nowMs)],
    ])("are not sent again if the trial %s between two attempts", async (_, change) => {
      mailSender.failure = busy;
      await roundAt(endsAtMs);
      await change();
      await roundAt(endsAtMs + minuteMs);
      expect(mailSender.sent).toHaveLength(1);
      expect(await stage.query("SELECT id FROM sign_in_mails")).toEqual([]);
    });

    it("are taken with what tells the build before that they are done, and with its ids", async () => {
      mailSender.failure = busy;
      await roundAt(endsAtMs);
      const [row] = await stage.query("SELECT * FROM accounts");
      expect(Number(row?.trial_mail_done_ms)).toBe(endsAtMs);
      expect(mailSender.sent[0]?.id).toBe(deriveMailId(`trial-ended:v1:${row?.id}:${endsAtMs}`));
    });

    it("go on after the onboarding emails were stopped, because they are about the account", async () => {
      await suppressEmail(db, email, nowMs);
      await roundAt(endsAtMs);
      expect(subjects()).toEqual([ended]);
      expect(mailSender.sent[0]?.headers).toEqual({
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "OOF, AutoReply",
      });
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
      ["was deleted", () => deleteAccount(db, email, "operator", nowMs)],
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

  describe("about the end of an app", () => {
    const endsAtMs = atMs + 180 * dayMs;
    const dueAtMs = endsAtMs - 7 * dayMs;
    let account: { id: string; email: string };

    beforeEach(async () => {
      nowMs = dueAtMs;
      account = await addAccount(db, email, { subject: "user_1", plan: "licensed" }, atMs);
      const app = { id: "sess_app", account_id: account.id, name: "Desk", app_origin: "a device" };
      await startAppSession(db, app, atMs);
      await stage.query(`UPDATE local_sessions SET expires_at_ms = ${endsAtMs}`);
    });

    it("is sent once, also by five runners at once", async () => {
      nowMs = dueAtMs - 1;
      await round();
      expect(mailSender.sent).toEqual([]);
      nowMs = dueAtMs;
      await Promise.all(Array.from({ length: 5 }, round));
      nowMs += 12 * 60 * minuteMs;
      await round();
      expect(mailSender.sent.map(({ to, subject }) => [to, subject])).toEqual([
        [email, "An app loses access to your account soon"],
      ]);
      const { text = "", html = "" } = mailSender.sent[0] ?? {};
      expect(text).toMatch(
        /^It calls itself: “Desk”\n(?:.+\n)?Loses access: Thursday,? 13 May 2027 at 09:00 UTC\n/,
      );
      expect(text).toContain("You can switch these emails off under Account.");
      const links = [text, html].flatMap((part) => part.match(/https?:[^"\s<]+/g) ?? []);
      expect(new Set(links), "no secret").toEqual(new Set(["http://localhost:3000/home/access"]));
      expect(mailSender.sent[0]?.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
    });

    it("is sent again under the same id while that may succeed, until the session ends", async () => {
      mailSender.failure = busy;
      await round();
      await round();
      expect(mailSender.sent).toHaveLength(1);
      nowMs += 1000;
      await round();
      expect(mailSender.sent).toHaveLength(2);
      nowMs = endsAtMs;
      await round();
      expect(mailSender.sent).toHaveLength(2);
      expect(new Set(mailSender.sent.map(({ id }) => id)).size).toBe(1);
    });

    it("is sent while the build before sends others, and by us when the lease of one that died has expired", async () => {
      await stage.query(`UPDATE local_sessions SET end_mail_at_ms = ${dueAtMs + 15_000}`);
      mailSender.whileSending = async () => {};
      await round();
      expect(mailSender.sent).toEqual([]);
      nowMs += 15_000;
      await round();
      expect(mailSender.sent).toHaveLength(1);
    });

    it("names all apps of the owner that come due within a day, and no other", async () => {
      const add = async (name: string, laterMs: number, { id } = account) => {
        const app = { id: `sess_${name}`, account_id: id, name, app_origin: "a device" };
        await startAppSession(db, app, atMs + laterMs);
      };
      const other = "other@example.com";
      const sentTo = (owner: string) => mailSender.sent.filter(({ to }) => to === owner);
      await add("Phone", 23 * 60 * minuteMs);
      await add("Laptop", 25 * 60 * minuteMs);
      await add("Tablet", 0, await addAccount(db, other, { subject: "user_2", plan: "licensed" }, atMs));
      await stage.query(`UPDATE local_sessions SET expires_at_ms = ${endsAtMs}`);
      await round();
      await round();
      const [mail, ...others] = sentTo(email);
      expect(others).toEqual([]);
      expect(sentTo(other).map(({ text }) => text?.match(/“[^”]+”/g))).toEqual([["“Tablet”"]]);
      expect(mail?.subject).toBe("2 apps lose access to your account soon");
      expect(mail?.text).toMatch(
        /“Desk”[^“]+ 13 May 2027 at 09:00 UTC\n[\s\S]+“Phone”[^“]+ 14 May 2027 at 08:00 UTC\n/,
      );
      expect(mail?.text).not.toContain("Laptop");
      nowMs += 25 * 60 * minuteMs;
      await round();
      expect(sentTo(email).map(({ subject }) => subject)).toEqual([
        "2 apps lose access to your account soon",
        "An app loses access to your account soon",
      ]);
      expect(sentTo(email)[1]?.text).toContain("“Laptop”");
    });

    it("is not sent early because another app was due that has ended", async () => {
      const app = { id: "sess_phone", account_id: account.id, name: "Phone", app_origin: "a device" };
      await startAppSession(db, app, atMs + 60 * minuteMs);
      await stage.query(`UPDATE local_sessions SET expires_at_ms = ${dueAtMs} WHERE id = 'sess_app'`);
      await stage.query(`UPDATE local_sessions SET expires_at_ms = ${endsAtMs} WHERE id = 'sess_phone'`);
      await round();
      expect(mailSender.sent).toEqual([]);
      nowMs += 60 * minuteMs;
      await round();
      expect(mailSender.sent).toHaveLength(1);
    });

    it("is not sent to an owner who has switched these mails off", async () => {
      await stage.query("UPDATE accounts SET app_end_mails_stopped_at_ms = 1");
      await round();
      expect(mailSender.sent).toEqual([]);
    });

    it("is taken with what tells the build before that it is done", async () => {
      mailSender.failure = busy;
      await round();
      expect(await stage.query("SELECT end_mail_at_ms FROM local_sessions")).toEqual([
        { end_mail_at_ms: null },
      ]);
    });

    it.each([
      ["the session has ended", "DELETE FROM local_sessions"],
      ["the app is kept", `UPDATE local_sessions SET last_date_ms = ${endsAtMs + 7 * dayMs}`],
      ["the owner has switched them off", "UPDATE accounts SET app_end_mails_stopped_at_ms = 1"],
    ])("is not sent again if %s between two attempts", async (_, sql) => {
      mailSender.failure = busy;
      await round();
      await stage.query(sql);
      nowMs += 60 * minuteMs;
      await round();
      expect(mailSender.sent).toHaveLength(1);
      expect(await stage.query("SELECT id FROM sign_in_mails WHERE kind <> 'new app'")).toEqual([]);
    });
  });

  describe("about a licence that waits to be tried again", () => {
    const endsAtMs = atMs + 2 * dayMs;

    beforeEach(async () => {
      const terms = { subject: "user_1", trial_ends_at_ms: atMs - dayMs };
      const { id } = await addAccount(db, email, terms, atMs);
      await stage.query(
        `INSERT INTO billing_customers (account_id, customer_id, created_at_ms, licence, plan_before, trial_ends_before_ms)
         VALUES ('${id}', 'cus_1', 0, 'given', 'trial', 0)`,
      );
      await stage.query(
        `INSERT INTO billing_subscriptions (id, account_id, status, period_ends_ms, ends_at_ms, licence_until_ms, created_at_ms, version)
         VALUES ('sub_1', '${id}', 'trialing', ${endsAtMs}, ${endsAtMs}, ${endsAtMs}, 0, 1)`,
      );
      mailSender.failure = busy;
    });

    it.each<[string, string, number]>([
      ["it is paid for", "status = 'active'", 2],
      ["the cancellation is taken back", "ends_at_ms = NULL", 1],
      ["the end is moved", `ends_at_ms = ${endsAtMs + dayMs}, ending_mail_ms = ${endsAtMs + dayMs}`, 1],
      ["the licence is refunded", "licence_until_ms = 0", 1],
    ])("before its end: %s", async (_, columns, times) => {
      await round();
      expect(mailSender.sent).toHaveLength(1);
      await stage.query(`UPDATE billing_subscriptions SET ${columns}`);
      nowMs += 60_000;
      await round();
      expect(subjects()).toEqual(Array(times).fill(expect.stringMatching(/^Your plan ends on /)));
    });
  });

  it("finds what is due by an index, however much is stored", async () => {
    for (const statement of manyAccounts(10_000, atMs)) await stage.query(statement);
    await stage.query(`UPDATE local_sessions SET end_mail_at_ms = ${atMs + 9 * dayMs} WHERE kind = 'app'`);
    await stage.query("ANALYZE");
    const { watched, queries, planOf } = watchQueries(db);
    const plans: Record<string, string> = {};
    for (const [kind, { takeDue }] of mailKinds) {
      if (!takeDue) continue;
      queries.length = 0;
      await takeDue(watched, atMs);
      plans[kind] = await planOf(queries[0]);
    }
    expect(plans).toEqual({
      "app ending": expect.stringMatching(/local_sessions_end_mail/),
      "trial ending": expect.stringMatching(/accounts_trial_ending/),
      "trial ended": expect.stringMatching(/accounts_trial_ended/),
      "licence ending": expect.stringMatching(/billing_subscriptions_(ends|owing)/),
    });
  });
});

describe("`emails send-due`", () => {
  it("sends the mail at the end of a trial, and no onboarding mail that is due after it", async () => {
    const clock = makeClock();
    const service = await Service.make({ SIGN_IN: "local", ...clock.environment });
    await service.admin("migrate");
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
    await service.admin("migrate");
    await service.adminJson("account", "add", email, "--trial-days", "1");
    clock.pass(dayMs);
    await service.adminJson("emails", "send-due");
    await stripe.stop();
    const mail = (await mailsTo(service.dataDir, email)).find(
      ({ subject }) => subject === "Your trial has ended",
    );
    expect(mail?.text).toMatch(/^A plan: .*€49 a month/m);
    expect(mail?.text).toMatch(/^Choose a plan:\nhttp\S+\/home\/billing$/m);
  });
});
