import type { KyselyPlugin } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { setAccount } from "@/lib/accounts/accounts";
import { addAccount } from "@/lib/accounts/joining/invitations";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { dayMs } from "@/lib/config/durations";
import { onboardingDays, onboardingKinds } from "@/lib/mail/kinds/onboarding";
import { SendError } from "@/lib/mail/mail";
import { retryFailedMails } from "@/lib/mail/outbox/failed-mails";
import { onboardingOutbox, selectEmails } from "@/lib/mail/outbox/onboarding-outbox";
import { stopLaterEmails, suppressEmail } from "@/lib/mail/unsubscribe";
import { startStageForEach } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { numbersTo, watchQueries } from "@/tests/support/watched-queries";

// The links of the mails are made with the keys in the store.
process.env.APP_SECRET = besideDatabaseUrl.APP_SECRET;

const hourMs = 60 * 60 * 1000;
const leaseMs = 15_000;
const atMs = Date.parse("2026-11-21T09:00:00Z");
const all = (state: string) => onboardingKinds.map(() => state);

describe.each(engines)("the outbox on $name", async (engine) => {
  const { stage, db } = await startStageForEach(engine);
  let accountId: string;
  const email = "ceo@example.com";
  const licence = { plan: "licensed" } as const;

  beforeEach(async () => {
    accountId = (await addAccount(db, email, licence, atMs)).id;
  });

  const claim = async (nowMs: number, limit = 5, by = db) => {
    const claimed = await onboardingOutbox.claim(by, { limit, leaseUntilMs: nowMs + leaseMs, nowMs });
    const mails = [];
    for (const mail of claimed ?? []) {
      const wanted = await onboardingOutbox.address(by, mail, nowMs);
      if (wanted) mails.push({ ...mail, to: wanted.to });
    }
    return mails;
  };
  const one = async (nowMs: number) => {
    const [email] = await claim(nowMs, 1);
    if (!email) throw new Error("nothing was due");
    return email;
  };
  const states = async (id = accountId) => (await selectEmails(db, id).execute()).map(({ state }) => state);
  type Claimed = Awaited<ReturnType<typeof one>>;
  const kinds = (emails: Claimed[]) => emails.map(({ kind }) => kind);
  const settle = (email: Claimed, failure?: SendError, retryAtMs?: number, by = db) => {
    const next = retryAtMs === undefined ? undefined : { atMs: retryAtMs, attempts: email.attempts };
    return onboardingOutbox.record(by, email, { to: email.to, failure, next }, atMs);
  };
  const temporary = new SendError("smtp: 451 DATA", { mayRetry: true });

  it("claims each mail when it is due, for the account's address", async () => {
    expect(await claim(atMs - 1)).toEqual([]);
    const welcome = await one(atMs);
    const lease = { attempts: 1, leaseUntilMs: atMs + leaseMs, triedUntilMs: atMs + 23 * hourMs };
    expect(welcome).toMatchObject({ account_id: accountId, kind: "welcome", to: email, ...lease });
    await settle(welcome);
    expect(await claim(atMs + dayMs - 1)).toEqual([]);
    expect(kinds(await claim(atMs + dayMs))).toEqual(["first-assistant"]);
    expect(await states()).toEqual(["sent", "sending", ...all("scheduled").slice(2)]);
  });

  it("finds what is due by an index, however much waits", async () => {
    await stage.query(
      `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
       SELECT 'mail-' || n, 'acc_' || n, 'x', 'welcome', n, 'scheduled', n FROM ${numbersTo(10_000)}`,
    );
    await stage.query("ANALYZE onboarding_emails");
    const { watched, queries, planOf } = watchQueries(db);
    expect(await claim(atMs, 5, watched), "the accounts are gone").toEqual([]);
    for (const query of queries.slice(1, 3)) {
      const plan = await planOf(query);
      expect(plan).toContain("onboarding_emails_scheduled");
      expect(plan).not.toMatch(/Seq Scan on onboarding|TEMP B-TREE/);
    }
  });

  it("stops the mails that come due while the trial has ended, and goes on when it is extended", async () => {
    const trialEndsAtMs = atMs + 4 * dayMs;
    await setAccount(db, email, { plan: "trial", trial_ends_at_ms: trialEndsAtMs }, atMs);
    await settle(await one(atMs));
    expect(kinds(await claim(trialEndsAtMs - 1))).toEqual(["first-assistant"]);
    expect(await claim(trialEndsAtMs)).toEqual([]);
    expect(await states()).toEqual(["sent", "sending", "stopped", ...all("scheduled").slice(3)]);
    await setAccount(db, email, { trial_ends_at_ms: atMs + 9 * dayMs }, trialEndsAtMs);
    expect(await claim(atMs + 8 * dayMs), "the one that no one has settled").toEqual([]);
    expect(kinds(await claim(atMs + 8 * dayMs))).toContain("credits");
    expect(await claim(atMs + 14 * dayMs)).toEqual([]);
  });

  it("sends one a day, in their order, where the runner was away for two weeks", async () => {
    const sent: string[] = [];
    for (let hours = 0; hours < 6 * 24; hours++) {
      const mails = await claim(atMs + 14 * dayMs + hours * hourMs);
      for (const mail of mails) {
        await settle(mail);
        sent.push(`${mail.kind} after ${hours}`);
      }
    }
    const days = [0, 20, 40, 60, 80];
    expect(sent).toEqual(onboardingKinds.map((kind, at) => `${kind} after ${days[at]}`));
  });

  it("waits with a mail on the day on which one about the end of the trial was sent", async () => {
    await settle(await one(atMs));
    await stage.query(
      `INSERT INTO sign_in_mail_attempts (id, email, kind, at_ms, state)
       VALUES ('t', '${email}', 'trial ending', ${atMs + dayMs - hourMs}, 'sent')`,
    );
    expect(await claim(atMs + dayMs)).toEqual([]);
    expect(await claim(atMs + dayMs + 19 * hourMs - 1)).toEqual([]);
    const waited = await one(atMs + dayMs + 19 * hourMs);
    expect(waited).toMatchObject({ kind: "first-assistant", attempts: 1 });
    expect(waited.triedUntilMs, "its day of tries begins then").toBe(atMs + dayMs + 42 * hourMs);
  });

  it("ends before a trial of the default length does", () => {
    expect(onboardingDays).toBeLessThan(defaultTrialDays);
  });

  it("claims a mail again when its lease has expired, and ignores the first runner's outcome", async () => {
    const first = await one(atMs);
    expect(await claim(first.leaseUntilMs - 1)).toEqual([]);
    const [nowMs, leaseUntilMs] = [first.leaseUntilMs, first.leaseUntilMs + leaseMs];
    const settling = { limit: 5, leaseUntilMs, nowMs, isSettling: true };
    expect(await onboardingOutbox.claim(db, settling), "the store was just away").toBeUndefined();
    const second = await one(first.leaseUntilMs);
    expect(second).toMatchObject({ id: first.id, attempts: 2 });
    await settle(first, new SendError("too late", { mayRetry: false }));
    expect((await states())[0]).toBe("sending");
    await settle(second);
    await settle(first, temporary, 0);
    expect((await states())[0]).toBe("sent");
    expect(await claim(atMs + hourMs)).toEqual([]);
  });

  it("fails a mail that was first attempted 23 hours ago, because Resend forgets an id after 24", async () => {
    await settle(await one(atMs), temporary, atMs);
    await settle(await one(atMs + 23 * hourMs - 1), temporary, atMs);
    expect(await claim(atMs + 23 * hourMs)).toEqual([]);
    expect((await selectEmails(db, accountId).execute())[0]).toMatchObject({
      state: "failed",
      failure: "smtp: 451 DATA",
    });
    const failed = { column: "failure", value: "smtp: 451 DATA", by: "operator" } as const;
    await retryFailedMails(db, failed, atMs + 23 * hourMs);
    expect(kinds(await claim(atMs + 23 * hourMs)), "an operator begins anew").toEqual(["welcome"]);
  });

  it("fails a mail whose runner died a day ago, as its delivery is unknown", async () => {
    await one(atMs);
    expect(await claim(atMs + 24 * hourMs - 1)).toEqual([]);
    const [welcome] = await selectEmails(db, accountId).execute();
    expect(welcome).toMatchObject({ state: "failed", failure: "delivery unknown" });
  });

  it("waits for a mail that is being sent, and stops its retry", async () => {
    const sending = await one(atMs);
    const stopped = stopLaterEmails(db, accountId, "unsubscribe link", atMs);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await settle(sending, temporary, atMs);
    expect(await stopped).toBe(true);
    expect(await states()).toEqual(all("stopped"));
  });

  it("stops a mail that is rescheduled between its last update and its last check", async () => {
    const sending = await one(atMs);
    const runner = await stage.open();
    let updates = 0;
    const putBackAfterSecondUpdate: KyselyPlugin = {
      transformQuery({ node }) {
        if (node.kind === "UpdateQueryNode") updates++;
        return node;
      },
      async transformResult({ result }) {
        if (updates === 2) await settle(sending, temporary, atMs, runner);
        return result;
      },
    };
    await stopLaterEmails(db.withPlugin(putBackAfterSecondUpdate), accountId, "unsubscribe link", atMs);
    expect(await states()).toEqual(all("stopped"));
  });

  it("is false while a mail may still arrive", async () => {
    const sending = await one(atMs);
    const startedAtMs = performance.now();
    expect(await stopLaterEmails(db, accountId, "unsubscribe link", atMs)).toBe(false);
    expect(performance.now() - startedAtMs).toBeGreaterThan(1500);
    expect(await states()).toEqual(["sending", ...all("stopped").slice(1)]);

    // The delivery is unknown: the mail is not retried, and its lease expires.
    await settle(sending, new SendError("smtp: 451 DATA", { mayRetry: true, mayArrive: true }), atMs);
    expect(await stopLaterEmails(db, accountId, "unsubscribe link", sending.leaseUntilMs - 2000)).toBe(false);
    await stopLaterEmails(db, accountId, "unsubscribe link", sending.leaseUntilMs);
    expect(await states()).toEqual(all("stopped"));
  });

  it("waits for a mail that is being sent to another address of the account", async () => {
    const { id } = await one(atMs);
    await stage.query(`UPDATE onboarding_emails SET recipient_hash = 'another' WHERE id = '${id}'`);
    expect(await stopLaterEmails(db, accountId, "unsubscribe link", atMs)).toBe(false);
  });

  it("stops the mails to the account's current and former addresses", async () => {
    const had = email;
    const has = "new@example.com";
    await stage.query(`UPDATE accounts SET email = '${has}' WHERE id = '${accountId}'`);
    await stopLaterEmails(db, accountId, "unsubscribe link", atMs);
    await stage.query(`DELETE FROM accounts WHERE id = '${accountId}'`);
    for (const address of [had, has]) {
      const anew = await addAccount(db, address, {}, atMs);
      expect(await states(anew.id), address).toEqual(all("stopped"));
    }
    expect(await claim(atMs + 15 * dayMs)).toEqual([]);
  });

  it("stops a mail whose runner died once its lease has expired", async () => {
    const sending = await one(atMs);
    await stopLaterEmails(db, accountId, "unsubscribe link", sending.leaseUntilMs - 500);
    expect(await states()).toEqual(all("stopped"));
    await settle(sending);
    expect((await states())[0], "a late outcome changes nothing").toBe("stopped");
  });

  it("treats a lease that ends too far in the future as expired: a clock was set back", async () => {
    const sending = await one(atMs + 2 * hourMs);
    await stopLaterEmails(db, accountId, "unsubscribe link", atMs);
    expect(await states()).toEqual(all("stopped"));
    const other = (await addAccount(db, "other@example.com", {}, atMs)).id;
    const ahead = await one(atMs + 2 * hourMs);
    expect(kinds(await claim(atMs))).toEqual(["welcome"]);
    await settle(sending);
    await settle(ahead);
    expect((await states(other))[0], "the first outcome is too late").toBe("sending");
  });

  it("sends to the account's current address, unless that is suppressed", async () => {
    await stage.query(`UPDATE accounts SET email = 'new@example.com' WHERE id = '${accountId}'`);
    expect(await claim(atMs)).toMatchObject([{ to: "new@example.com" }]);
    await stage.query(`UPDATE accounts SET email = 'stopped@example.com' WHERE id = '${accountId}'`);
    await suppressEmail(db, "stopped@example.com", atMs);
    for (let n = 0; n < 3; n++) expect(await claim(atMs + dayMs)).toEqual([]);
    expect((await states())[1]).toBe("stopped");
  });

  it("stops the mails to an address that the provider suppresses", async () => {
    const other = await addAccount(db, "other@example.com", {}, atMs);
    await suppressEmail(db, email.toUpperCase(), atMs);
    expect(await states()).toEqual(all("stopped"));
    expect(await states(other.id)).toEqual(all("scheduled"));
  });
});
