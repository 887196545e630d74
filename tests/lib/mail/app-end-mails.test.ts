import { beforeEach, describe, expect, it } from "vitest";
import { addAccount } from "@/lib/accounts/invitations";
import { scheduledOutbox } from "@/lib/auth/outbox";
import { dayMs } from "@/lib/config/durations";
import { SendError } from "@/lib/mail/mail";
import { sendDueMails } from "@/lib/mail/outbox-runner";
import { startAppSession } from "@/lib/oauth/app-session";
import { startStageForEach } from "@/tests/support/block";
import { besideDatabaseUrl } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { RecordingSender } from "@/tests/support/recording-sender";

const atMs = Date.parse("2026-11-21T09:00:00Z");
const minuteMs = 60_000;
const email = "ceo@example.com";
const world = { ...besideDatabaseUrl, NODE_ENV: "production", LOG_LEVEL: "error" };

describe.each(engines)("the mail about the end of an app, on $name", async (engine) => {
  let account: { id: string; email: string };
  let nowMs: number;
  let mailSender: RecordingSender;
  const { stage, db } = await startStageForEach(engine);
  const round = () => sendDueMails(db, mailSender, scheduledOutbox, { now: () => nowMs });
  const endsAtMs = atMs + 180 * dayMs;
  const dueAtMs = endsAtMs - 7 * dayMs;

  beforeEach(async () => {
    Object.assign(process.env, world);
    [nowMs, mailSender] = [dueAtMs, new RecordingSender()];
    account = { id: (await addAccount(db, email, { subject: "user_1", plan: "licensed" }, atMs)).id, email };
    await startAppSession(
      db,
      { id: "sess_app", account_id: account.id, name: "Desk", app_origin: "a device" },
      atMs,
    );
    await db.updateTable("local_sessions").set({ expires_at_ms: endsAtMs }).execute();
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
    expect(text).toMatch(/ on Thursday,? 20 May 2027 at 09:00 UTC\./);
    expect(text).toContain("“Desk”, as the app calls itself, loses access");
    expect(text).toContain("You can switch these emails off on your access page");
    const links = [text, html].flatMap((part) => part.match(/https?:[^"\s<]+/g) ?? []);
    expect(new Set(links), "no secret").toEqual(new Set(["http://localhost:3000/home/access"]));
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

  it("names all apps of the owner that come due within a day, and no other", async () => {
    const add = async (name: string, laterMs: number) => {
      const app = { id: `sess_${name}`, account_id: account.id, name, app_origin: "a device" };
      await startAppSession(db, app, atMs + laterMs);
    };
    await add("Phone", 23 * 60 * minuteMs);
    await add("Laptop", 25 * 60 * minuteMs);
    await db.updateTable("local_sessions").set({ expires_at_ms: endsAtMs }).execute();
    await round();
    await round();
    const [mail, ...others] = mailSender.sent;
    expect(others).toEqual([]);
    expect(mail?.subject).toBe("2 apps lose access to your account soon");
    expect(mail?.text).toMatch(
      /“Desk”.+ 20 May 2027 at 09:00 UTC\.[\s\S]+“Phone”.+ 21 May 2027 at 08:00 UTC\./,
    );
    expect(mail?.text).not.toContain("Laptop");
    nowMs += 25 * 60 * minuteMs;
    await round();
    expect(mailSender.sent.map(({ subject }) => subject)).toEqual([
      "2 apps lose access to your account soon",
      "An app loses access to your account soon",
    ]);
    expect(mailSender.sent[1]?.text).toContain("“Laptop”");
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
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
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
    mailSender.failure = new SendError("smtp: 451 RCPT TO", { mayRetry: true });
    await round();
    await stage.query(sql);
    nowMs += 60 * minuteMs;
    await round();
    expect(mailSender.sent).toHaveLength(1);
    expect(await stage.query("SELECT id FROM sign_in_mails WHERE kind <> 'new app'")).toEqual([]);
  });
});
