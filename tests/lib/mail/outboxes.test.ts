import { beforeEach, describe, expect, it } from "vitest";
import { addAccount, auditedInvitation, invite } from "@/lib/accounts/joining/invitations";
import { leave, stay } from "@/lib/accounts/leaving/leaving";
import { makeCode } from "@/lib/auth/codes/sign-in-code";
import { warnOwner } from "@/lib/auth/sessions/session-network";
import { auditedTransaction, recordAudit } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { type Mail, SendError } from "@/lib/mail/mail";
import { findBacklogs } from "@/lib/mail/outbox/backlog";
import {
  claimMails,
  countSealedMails,
  deleteMail,
  deleteMailsTo,
  enqueueMail,
  rescheduleMail,
} from "@/lib/mail/outbox/outbox";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { outbox, scheduledOutbox } from "@/lib/mail/outbox/outboxes";
import { hashEmail } from "@/lib/mail/outbox/suppressions";
import { noPrice } from "@/lib/mail/prices";
import { suppressEmail } from "@/lib/mail/unsubscribe";
import { startAppSession } from "@/lib/oauth/app-session";
import { seal } from "@/lib/runtime/seal";
import { startStageForEach } from "@/tests/support/block";
import { besideDatabaseUrl, eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { RecordingSender } from "@/tests/support/recording-sender";

const atMs = Date.parse("2026-11-21T09:00:00Z");
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const email = "ceo@example.com";
const world = { ...besideDatabaseUrl, NODE_ENV: "production", LOG_LEVEL: "error" };
const greylisted = () => new SendError("smtp: 451 RCPT TO", { mayRetry: true });

describe.each(engines)("the outbox on $name", async (engine) => {
  const { stage } = await startStageForEach(engine);
  let db: Db;
  let nowMs: number;
  let mailSender: RecordingSender;
  let sent: Mail[];

  beforeEach(async () => {
    Object.assign(process.env, world);
    [nowMs, mailSender] = [atMs, new RecordingSender()];
    sent = mailSender.sent;
    // Each test gets its own, because one remembers the keys that it has checked, and an outage.
    db = await stage.open();
    await addAccount(db, email, { subject: "user_1" }, nowMs);
  });

  const round = () => sendDueMails(db, mailSender, outbox, { now: () => nowMs });
  const rows = () => db.selectFrom("sign_in_mails").selectAll().execute();
  const askForCode = async (to = email) => (await makeCode(db, { email: to }, nowMs))?.code ?? expect.fail();

  it("writes the same row for an email without an account, and does not send it", async () => {
    await askForCode();
    await askForCode("abc@example.com");
    const [one, other] = await rows();
    expect(one?.sealed.length).toBe(other?.sealed.length);
    expect(Object.keys(one ?? {})).toEqual(Object.keys(other ?? {}));
    await round();
    expect(sent.map(({ to }) => to)).toEqual([email]);
    expect(await rows()).toEqual([]);
  });

  it("sends no code to an account without a subject", async () => {
    await addAccount(db, "later@example.com", {}, nowMs);
    await askForCode("later@example.com");
    await round();
    expect(sent).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  it("stores neither the code nor the address in clear text", async () => {
    const code = await askForCode();
    const stored = JSON.stringify(await stage.query("SELECT * FROM sign_in_mails"));
    for (const secret of [code, email, "example"]) expect(stored).not.toContain(secret);
  });

  it("stores no code if its mail cannot be queued", async () => {
    await stage.query("ALTER TABLE sign_in_mails RENAME TO away");
    await expect(makeCode(db, { email }, nowMs)).rejects.toThrow();
    await stage.query("ALTER TABLE away RENAME TO sign_in_mails");
    expect(await stage.query("SELECT email FROM sign_in_codes")).toEqual([]);
  });

  it("retries a greylisted code after 1, 5, 15 and 60 seconds, with one Message-ID", async () => {
    await askForCode();
    mailSender.failure = greylisted();
    const waits = [1000, 5000, 15_000, 60_000];
    for (const [failures, waitMs] of waits.entries()) {
      expect(await round()).toEqual({ sent: 0, toRetry: 1, failed: 0 });
      nowMs += waitMs - 1;
      expect(await round()).toEqual({ sent: 0, toRetry: 0, failed: 0 });
      expect(sent).toHaveLength(failures + 1);
      nowMs += 1;
    }
    mailSender.failure = undefined;
    expect(await round()).toEqual({ sent: 1, toRetry: 0, failed: 0 });
    expect(sent).toHaveLength(5);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(await rows()).toEqual([]);
  });

  it("sends no code again once its account is gone", async () => {
    await askForCode();
    mailSender.failure = greylisted();
    await round();
    await stage.query("DELETE FROM accounts");
    nowMs += 1000;
    await round();
    expect(sent).toHaveLength(1);
    expect(await rows()).toEqual([]);
  });

  it("gives up a code when it has expired, and never sends an expired one", async () => {
    await askForCode();
    mailSender.failure = greylisted();
    while ((await rows()).length > 0) {
      await round();
      nowMs += 10_000;
    }
    expect(nowMs - atMs).toBeLessThan(10 * minuteMs);
    expect(sent.length).toBeGreaterThan(5);

    const tries = sent.length;
    mailSender.failure = undefined;
    await askForCode();
    nowMs += 10 * minuteMs;
    await round();
    expect(await rows()).toEqual([]);
    expect(sent).toHaveLength(tries);
  });

  it("counts an attempt that the provider asked to postpone, and waits for the longer of the two pauses", async () => {
    await askForCode();
    mailSender.failure = new SendError("smtp: 421 MAIL FROM", { mayRetry: true, pauseMs: 2 });
    const waits = [];
    for (let n = 0; n < 5; n++) {
      await round();
      const [row] = await rows();
      expect(row?.attempts).toBe(n + 1);
      waits.push((row?.next_attempt_at_ms ?? 0) - nowMs);
      nowMs = row?.next_attempt_at_ms ?? 0;
    }
    expect(waits).toEqual([1000, 5000, 15_000, 60_000, 120_000]);
    expect(sent).toHaveLength(5);
  });

  it("gives up an address that is permanently refused", async () => {
    await askForCode();
    mailSender.failure = new SendError("smtp: 550 RCPT TO", { mayRetry: false });
    expect(await round()).toEqual({ sent: 0, toRetry: 0, failed: 1 });
    expect(await rows()).toEqual([]);
  });

  it("gives each mail to one runner, and a dead runner's mails to another when their lease has expired", async () => {
    for (let n = 0; n < 20; n++)
      await enqueueMail(db, { kind: "code", to: email, code: "1", isLong: false }, life());
    const claim = () => claimMails(db, { limit: 5, leaseUntilMs: nowMs + 15_000, nowMs }, false);
    const claimed = (await Promise.all(Array.from({ length: 8 }, claim))).flatMap((mails) => mails ?? []);
    const more = (await Promise.all(Array.from({ length: 8 }, claim))).flatMap((mails) => mails ?? []);
    const ids = [...claimed, ...more].map(({ id }) => id);
    expect(new Set(ids).size).toBe(20);
    expect(ids).toHaveLength(20);
    nowMs += 14_999;
    expect(await claim()).toBeUndefined();
    nowMs += 1;
    const taken = new Set((await claim())?.map(({ id }) => id));
    expect(taken.size).toBe(5);
    // The first runner comes late.
    for (const mine of [...claimed, ...more].filter(({ id }) => taken.has(id))) {
      await deleteMail(db, mine);
      await rescheduleMail(db, mine, { attempts: 9, atMs: nowMs });
    }
    expect(
      await db.selectFrom("sign_in_mails").select("id").where("attempts", "<", 9).execute(),
    ).toHaveLength(20);
  });

  it("sends a mail once, although its outcome cannot be recorded before its lease expires", async () => {
    await askForCode();
    mailSender.whileSending = () => stage.query("ALTER TABLE sign_in_mails RENAME TO sign_in_mails_away");
    const first = round().catch(() => {});
    await eventually(() => expect(round()).rejects.toThrow());
    nowMs += 20_000;
    await stage.query("ALTER TABLE sign_in_mails_away RENAME TO sign_in_mails");
    await round();
    await first;
    expect(sent).toHaveLength(1);
    expect(await rows()).toEqual([]);
  });

  // The embedded store has one writer at a time, so no other process can hold a row.
  if (engine.name === "PostgreSQL") {
    it("skips a mail that another process has locked", async () => {
      for (let n = 0; n < 2; n++) await askForCode();
      const [held] = await rows();
      let claimed: Awaited<ReturnType<typeof claimMails>>;
      const release = new Error("the lock is released");
      const holding = db.transaction().execute(async (holder) => {
        await holder
          .selectFrom("sign_in_mails")
          .select("id")
          .where("id", "=", held?.id ?? "")
          .forUpdate()
          .execute();
        claimed = await claimMails(db, { limit: 5, leaseUntilMs: nowMs + 15_000, nowMs }, false);
        throw release;
      });
      await expect(holding).rejects.toBe(release);
      expect(claimed).toHaveLength(1);
      expect(claimed?.[0]?.id).not.toBe(held?.id);
    });
  }

  it("sends an invitation while its link works, and only the newest one", async () => {
    const to = "new@example.com";
    const post = () =>
      auditedTransaction(
        db,
        { by: "operator", what: "invite", ...auditedInvitation(to) },
        nowMs,
        async (transaction) => {
          const token = await invite(transaction, to, {}, nowMs);
          await enqueueMail(
            transaction,
            { kind: "invitation", to, token, isOnWaitlist: false },
            { nowMs, untilMs: nowMs + 14 * dayMs },
          );
          return token;
        },
      );
    await post();
    const token = await post();
    mailSender.failure = greylisted();
    await round();
    nowMs += dayMs;
    mailSender.failure = undefined;
    await round();
    expect(sent).toHaveLength(2);
    expect(sent.at(-1)?.text).toContain(`/invitation?token=${token}`);
    expect(await rows()).toEqual([]);
  });

  it("sends an owner's code in one round behind thousands for emails without an account", async () => {
    const flood = Array.from({ length: 2000 }, (_, n) => {
      const id = `flood-${n}`;
      const mail = { kind: "code", to: `abc${n}@example.com`, code: "1", isLong: false };
      const sealed = seal("security-mail:v1", id, JSON.stringify(mail));
      return { id, kind: "code", sealed, next_attempt_at_ms: nowMs - 1, expires_at_ms: nowMs + minuteMs };
    });
    await db.insertInto("sign_in_mails").values(flood).execute();
    const code = await askForCode();
    let statements = 0;
    const counted = db.withPlugin({
      transformQuery({ node }) {
        statements++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    await sendDueMails(counted, mailSender, outbox, { now: () => nowMs });
    expect(sent.map(({ subject }) => subject)).toEqual([`${code} is your sign-in code`]);
    expect(await rows()).toEqual([]);
    expect(statements).toBeLessThan(40);
  });

  it("sends a code while a thousand mails of a date wait, and none of them is taken", async () => {
    const ended = Array.from({ length: 1000 }, (_, n) => {
      const id = `ended-${n}`;
      const mail = { kind: "trial ended", accountId: "acc", endsAtMs: nowMs };
      const sealed = seal("security-mail:v1", id, JSON.stringify(mail));
      return { id, kind: mail.kind, sealed, next_attempt_at_ms: nowMs - 1, expires_at_ms: nowMs + dayMs };
    });
    await db.insertInto("sign_in_mails").values(ended).execute();
    const code = await askForCode();
    await round();
    expect(sent.map(({ subject }) => subject)).toEqual([`${code} is your sign-in code`]);
    expect((await rows()).map(({ attempts }) => attempts)).toEqual(ended.map(() => 0));
  });

  it("keeps a mail that none of our secrets opens until it expires, tries it again, and sends the others", async () => {
    await announce("new app");
    const [row] = await rows();
    await stage.query("UPDATE sign_in_mails SET sealed = 'c29tZXRoaW5nIGVsc2UgdGhhdCBpcyBub3Qgb3Vycw'");
    const code = await askForCode();
    await round();
    expect(sent.map(({ subject }) => subject)).toEqual([`${code} is your sign-in code`]);
    expect(await rows()).toMatchObject([{ id: row?.id, next_attempt_at_ms: nowMs + 1000 }]);
    expect(await countSealedMails(db)).toMatchObject({ lost: 1 });

    nowMs += 1000;
    await stage.query(`UPDATE sign_in_mails SET sealed = '${row?.sealed}'`);
    await round();
    expect(sent.map(({ subject }) => subject)).toContain("An app was connected to your account");
    expect(await rows()).toEqual([]);
  });

  it("leaves a mail of a kind that only a newer build knows as it is, until its owner is erased", async () => {
    const kind = "new moon";
    const mail = {
      id: "1",
      kind,
      sealed: seal("security-mail:v1", "1", JSON.stringify({ kind, to: email })),
      attempts: 0,
      next_attempt_at_ms: nowMs,
      expires_at_ms: nowMs + dayMs,
    };
    await db.insertInto("sign_in_mails").values(mail).execute();
    nowMs += 60 * minuteMs;
    for (const runner of [outbox, scheduledOutbox(noPrice)])
      await sendDueMails(db, mailSender, runner, { now: () => nowMs });
    expect(await rows()).toEqual([mail]);
    expect((await findBacklogs(db, nowMs))[1].mails).toBe(0);
    expect(await deleteMailsTo(db, email)).toBe(true);
    expect(await rows()).toEqual([]);
  });

  it("claims no mail with another secret than that of the signing keys", async () => {
    const [key] = await stage.query("SELECT sealed_key FROM signing_keys");
    await stage.query("UPDATE signing_keys SET sealed_key = 'c29tZXRoaW5nIGVsc2UgdGhhdCBpcyBub3Qgb3Vycw'");
    await askForCode();
    const before = await rows();
    await expect(round()).rejects.toThrow(
      "The keys in the store were encrypted with another APP_SECRET than this process has.",
    );
    expect(await rows()).toEqual(before);
    await stage.query(`UPDATE signing_keys SET sealed_key = '${key?.sealed_key}'`);
  });

  const announce = (kind: "new browser" | "new app", to = email) =>
    enqueueMail(db, { kind, to, name: "Desk", atMs: nowMs }, { nowMs, untilMs: nowMs + 2 * dayMs });

  it("goes on sending security mails after the onboarding emails were stopped", async () => {
    await suppressEmail(db, email, nowMs);
    await announce("new browser");
    await round();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.text).toContain("go on if you stop the onboarding emails");
  });

  it("sends what waited when an account changed its email to the new one, but no code", async () => {
    await announce("new browser");
    await askForCode();
    const to = "new@example.com";
    await stage.query(`INSERT INTO email_changes
      (id, account_id, from_email, to_email, mailbox_hash, asked_at_ms, until_ms, changed_at_ms)
      SELECT 'change', id, email, '${to}', '', ${nowMs}, ${nowMs}, ${nowMs} FROM accounts WHERE email = '${email}'`);
    await stage.query(`UPDATE accounts SET email = '${to}'`);
    await round();
    expect(sent.map((mail) => [mail.to, mail.subject])).toEqual([
      [to, "A new browser signed in to your account"],
    ]);
    expect(await rows()).toEqual([]);
  });

  it("sends nothing to who changed their email in the place of one whose account is gone", async () => {
    const other = await addAccount(db, "other@example.com", { subject: "user_2" }, nowMs);
    await stage.query(
      `INSERT INTO email_changes (id, account_id, from_email, to_email, mailbox_hash, asked_at_ms, until_ms, changed_at_ms)
       VALUES ('c', '${other.id}', 'was@example.com', 'other@example.com', 'h', 1, 1, 1) RETURNING id`,
    );
    await announce("new browser");
    await stage.query(`DELETE FROM accounts WHERE email = '${email}'`);
    await round();
    expect(sent).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  it("notes nothing of a mail that was on its way while its reader was erased", async () => {
    await announce("new browser");
    const erased = { by: "operator", what: "person erase", whom: hashEmail(email), after: null } as const;
    mailSender.whileSending = () => recordAudit(db, erased, nowMs + 1);
    expect(await round()).toEqual({ sent: 1, toRetry: 0, failed: 0 });
    expect(await stage.query("SELECT * FROM sign_in_mail_attempts")).toEqual([]);
  });

  it("has a warning about an app for each owner of whom it tells, though their apps have one name", async () => {
    for (const to of ["one@example.com", "other@example.com"]) {
      const { id: account_id } = await addAccount(db, to, {}, nowMs);
      const app = { id: `session of ${to}`, account_id, name: "Agent", app_origin: "agent.example" };
      await startAppSession(db, app, nowMs);
      await warnOwner(db, app.id, "app in turn", nowMs);
    }
    expect((await rows()).filter(({ kind }) => kind === "app in turn")).toHaveLength(2);
  });

  it("sends no link to keep an account whose deletion was taken back", async () => {
    const [account] = await db
      .selectFrom("accounts")
      .select(["id", "email"])
      .where("email", "=", email)
      .execute();
    if (!account) throw new Error("no account");
    await leave(db, account, nowMs);
    await stay(db, account, "owner", nowMs);
    nowMs += 1;
    await leave(db, account, nowMs);
    await round();
    expect(sent.map(({ subject }) => subject)).toEqual(["Your account will be deleted"]);
    expect(sent[0]?.text).toContain(`.${nowMs + dayMs}.`);
    expect(await rows()).toEqual([]);
  });

  const life = () => ({ nowMs, untilMs: nowMs + 10 * minuteMs });
});
