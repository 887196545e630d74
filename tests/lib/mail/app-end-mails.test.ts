import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addAccount } from "@/lib/accounts/invitations";
import { sendScheduledMails } from "@/lib/auth/outbox-runner";
import { dayMs } from "@/lib/config/durations";
import type { Db } from "@/lib/db/store";
import { SendError } from "@/lib/mail/mail";
import { extendAppSession, startAppSession } from "@/lib/oauth/app-session";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { RecordingSender } from "@/tests/support/recording-sender";

const atMs = Date.parse("2026-11-21T09:00:00Z");
const minuteMs = 60_000;
const email = "ceo@example.com";
const world = { ...besideDatabaseUrl, NODE_ENV: "production", LOG_LEVEL: "error" };

describe.each(engines)("the mail about the end of an app, on $name", (engine) => {
  let stage: Stage;
  let db: Db;
  let account: { id: string; email: string };
  let nowMs: number;
  let mailSender: RecordingSender;
  const round = () => sendScheduledMails(db, mailSender, { now: () => nowMs });
  const endsAtMs = atMs + 7 * dayMs;
  const dueAtMs = endsAtMs - dayMs;

  beforeEach(async () => {
    Object.assign(process.env, world);
    [nowMs, mailSender] = [dueAtMs, new RecordingSender()];
    stage = await engine.prepare();
    db = await stage.open();
    account = { id: (await addAccount(db, email, { subject: "user_1", plan: "licensed" }, atMs)).id, email };
    await startAppSession(
      db,
      { id: "sess_app", accountId: account.id, name: "Desk", origin: "a device", endsAtMs },
      atMs,
    );
    await db
      .updateTable("local_sessions")
      .set({ last_seen_at_ms: dueAtMs - dayMs })
      .execute();
  });
  afterEach(async () => {
    for (const name of Object.keys(world)) delete process.env[name];
    await stage.clear();
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
      [email, "An app loses access to your account tomorrow"],
    ]);
    expect(mailSender.sent[0]?.text).toMatch(/ on Saturday,? 28 November 2026 at 09:00 UTC\./);
    expect(mailSender.sent[0]?.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
  });

  it("is sent again under the same id while that may succeed, until the session ends", async () => {
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
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

  it("is given up when it is refused", async () => {
    mailSender.failure = new SendError("smtp: 550 RCPT TO", { mayRetry: false });
    await round();
    nowMs += 60 * minuteMs;
    await round();
    expect(mailSender.sent).toHaveLength(1);
  });

  it("is sent while the build before sends others, and by us when the lease of one that died has expired", async () => {
    await db
      .updateTable("local_sessions")
      .set({ end_mail_at_ms: dueAtMs + 15_000 })
      .execute();
    mailSender.whileSending = async () => {};
    await round();
    expect(mailSender.sent).toEqual([]);
    nowMs += 15_000;
    await round();
    expect(mailSender.sent).toHaveLength(1);
  });

  it("is due again before the end of another week, also if that is given while the mail is sent", async () => {
    const laterMs = nowMs + 7 * dayMs;
    mailSender.whileSending = () =>
      extendAppSession(db, account, { id: "sess_app", endsAtMs: laterMs }, nowMs);
    await round();
    mailSender.whileSending = async () => {};
    await round();
    expect(mailSender.sent).toHaveLength(1);
    nowMs = laterMs - dayMs;
    await db
      .updateTable("local_sessions")
      .set({ last_seen_at_ms: nowMs - dayMs })
      .execute();
    await round();
    expect(mailSender.sent).toHaveLength(2);
    expect(new Set(mailSender.sent.map(({ id }) => id)).size).toBe(2);
  });

  it("goes to the address that the account has at that moment", async () => {
    await stage.query(`UPDATE accounts SET email = 'new@example.com'`);
    await round();
    expect(mailSender.sent.map(({ to }) => to)).toEqual(["new@example.com"]);
  });

  it("is taken with what tells the build before that it is done", async () => {
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
    await round();
    expect(await stage.query("SELECT end_mail_at_ms FROM local_sessions")).toEqual([
      { end_mail_at_ms: null },
    ]);
  });

  it.each([
    ["the session has ended", "DELETE FROM local_sessions"],
    ["the app has another week", `UPDATE local_sessions SET expires_at_ms = ${endsAtMs + 7 * dayMs}`],
    ["the owner has switched them off", "UPDATE accounts SET app_end_mails_stopped_at_ms = 1"],
  ])("is not sent again if %s between two attempts", async (_, sql) => {
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
    await round();
    await stage.query(sql);
    nowMs += 60 * minuteMs;
    await round();
    expect(mailSender.sent).toHaveLength(1);
    expect(await stage.query("SELECT id FROM sign_in_mails WHERE kind <> 'new app'")).toEqual([]);
  });

  it.each([
    [
      "the app was not used for three days",
      `UPDATE local_sessions SET last_seen_at_ms = ${dueAtMs - 3 * dayMs}`,
    ],
    ["the app was never used", "UPDATE local_sessions SET last_seen_at_ms = NULL"],
    ["the session has ended", "DELETE FROM local_sessions"],
    ["the session has expired", `UPDATE local_sessions SET expires_at_ms = ${dueAtMs}`],
    ["the owner has switched them off", "UPDATE accounts SET app_end_mails_stopped_at_ms = 1"],
  ])("is not sent if %s", async (_, sql) => {
    await stage.query(sql);
    await round();
    nowMs += 60 * minuteMs;
    await round();
    expect(mailSender.sent).toEqual([]);
  });
});
