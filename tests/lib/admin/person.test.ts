import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { exportPerson } from "@/lib/accounts/leaving/person";
import { dayMs } from "@/lib/config/durations";
import { onboardingKinds } from "@/lib/mail/kinds/onboarding";
import { startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { Service } from "@/tests/support/service";

const email = "ann.lee@example.com";

type Kept = { holds: { reason: string }[]; events: { n?: number }[] };

describe.each(engines)("a person's data on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await Service.make(stage.environment);
  afterAll(() => service.stop());
  await service.adminJson("account", "add", "gone@example.com");
  await service.adminJson("person", "erase", "gone@example.com");
  const write = (name: string, to: string, writtenAtMs: number) => {
    const file = join(service.dataDir, "mail", `${name}.eml`);
    writeFileSync(file, `From: a@example.com\r\nTo: ${to}\r\nSubject: Hi\r\n\r\nHello`);
    utimesSync(file, writtenAtMs / 1000, writtenAtMs / 1000);
  };
  mkdirSync(join(service.dataDir, "mail"), { recursive: true });
  write("before", "gone@example.com", Date.now() - 60 * 60 * 1000);
  write("since", "gone@example.com", Date.now() + 1000);
  write("friends", "friend@example.com", Date.now() - 60 * 60 * 1000);
  await service.adminJson("account", "add", "kept@example.com", "--plan", "hobby");
  const oldMs = Date.now() - 731 * dayMs;
  const rows = ["old", "new"].map((name, n) => ({ name, atMs: oldMs + n * 2 * dayMs }));
  for (const { name, atMs } of rows) {
    await stage.query(`INSERT INTO waitlist (email, joined_at_ms) VALUES ('${name}@example.com', ${atMs})`);
    await stage.query(
      `INSERT INTO audit_entries (id, at_ms, who, what) VALUES ('${name}', ${atMs}, 'service', 'test')`,
    );
    await stage.query(
      `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
       VALUES ('${name}', 'acc_gone_${name}', '${name}', 'welcome', ${atMs}, 'sent', ${atMs})`,
    );
    await stage.query(
      `INSERT INTO invitations (id, email, plan, created_at_ms, expires_at_ms)
       VALUES ('${name}', '${name}@example.com', 'hobby', ${atMs}, ${atMs + 14 * dayMs})`,
    );
  }
  for (const state of ["scheduled", "stopped", "failed"])
    await stage.query(
      `INSERT INTO onboarding_emails (id, account_id, recipient_hash, kind, due_at_ms, state, next_attempt_at_ms)
       VALUES ('${state}', 'acc_gone_${state}', '${state}', 'of-a-newer-version', ${oldMs}, '${state}', ${oldMs})`,
    );
  const [kept] = await stage.query("SELECT id FROM accounts WHERE email = 'kept@example.com'");
  const hourMs = 60 * 60 * 1000;
  for (const [id, kind, endsAtMs] of [
    ["over", "browser", Date.now() - hourMs],
    ["live", "browser", Date.now() + hourMs],
    ["long over", "app", Date.now() - 30 * 24 * hourMs],
    ["shown", "app", Date.now() - 29 * 24 * hourMs],
  ]) {
    await stage.query(
      `INSERT INTO local_sessions (id, kind, account_id, expires_at_ms) VALUES ('${id}', '${kind}', '${kept?.id}', ${endsAtMs})`,
    );
  }
  await service.run();

  describe("at startup", () => {
    const ids = async (sql: string) => (await stage.query(sql)).map(({ id }) => id);

    it("is erased from the mail files of every instance", async () => {
      const left = () => readdirSync(join(service.dataDir, "mail"));
      await eventually(async () => expect(left()).not.toContain("before.eml"));
      expect(left()).toEqual(expect.arrayContaining(["since.eml", "friends.eml"]));
    });

    it("is deleted after the retention period, by the runner and by the cron command", async () => {
      await eventually(async () =>
        expect(
          await ids("SELECT email AS id FROM waitlist WHERE email IN ('old@example.com', 'new@example.com')"),
        ).toEqual(["new@example.com"]),
      );
      await service.adminJson("emails", "send-due");
      expect(await ids("SELECT id FROM audit_entries WHERE what = 'test'")).toEqual(["new"]);
      const [entry] = await service.adminJson<object[]>("audit", "list", "--who", "service");
      expect(entry).toMatchObject({
        what: "retention",
        whom: null,
        before: {},
        after: { audit_entries: 1, invitations: 1, local_sessions: 2, onboarding_emails: 3, waitlist: 1 },
      });
      expect(
        await ids("SELECT id FROM onboarding_emails WHERE account_id LIKE 'acc_gone%' ORDER BY id"),
      ).toEqual(["new", "scheduled"]);
      expect(await ids("SELECT id FROM local_sessions ORDER BY id")).toEqual(["live", "shown"]);
      expect(await ids("SELECT id FROM invitations WHERE id IN ('old', 'new')")).toEqual(["new"]);
      expect(await stage.query("SELECT * FROM accounts WHERE email = 'kept@example.com'")).toHaveLength(1);
    });
  });

  it("is exported completely and without secrets, by a command and on /home", async () => {
    await service.submit("/waitlist/join", { email });
    await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "3");
    const browser = new Browser(service);
    await browser.redeem(email);
    const exported = await eventually(async () => {
      const read = await service.adminJson("person", "export", email);
      // The one about the waitlist is sent only if the runner looks before the account is added.
      const code = { kind: "code", at: expect.any(String), state: "sent", failure: null };
      expect(read.signInMails).toContainEqual(code);
      return read;
    });
    expect(exported).toMatchObject({
      email,
      account: {
        plan: "licensed",
        credits: 3,
        trialEndsAt: null,
        lastTrialMailDueAt: null,
      },
      credits: [{ credits: 3, balance: 3, reason: "given with the account" }],
      wantsAppEndMails: true,
      wantsNoMail: false,
      sessions: [{ kind: "browser" }],
      waitlist: { joinedAt: expect.any(String) },
      invitations: [{ plan: "licensed", acceptedAt: expect.any(String) }],
      changes: [{ who: "owner", what: "sign in" }, { what: "account add" }],
    });
    expect(exported.mails).toHaveLength(onboardingKinds.length);
    expect(JSON.stringify(exported)).not.toMatch(/hash|secret|token/i);

    const download = await browser.pressAtHome("/home/export");
    expect(download.status).toBe(200);
    const day = new Date().toISOString().slice(0, 10);
    const file = `attachment; filename="corner-office-${day}.json"`;
    expect(download.headers["content-disposition"]).toBe(file);
    expect(download.headers["content-type"]).toBe("application/json");
    expect(download.text).toMatch(/^\{\n {2}"email": /);
    expect(download.headers["cache-control"]).toContain("no-store");
    expect(JSON.parse(download.text)).toMatchObject({ email, account: { plan: "licensed" } });
    const stranger = await service.submit("/home/export", {});
    expect([stranger.status, stranger.headers.location]).toEqual([303, "/sign-in?problem=ended"]);
  });

  it("is exported page by page where it has no end, in the order in which it happened", async () => {
    const { id } = await service.adminJson<{ id: string }>(
      "account",
      "add",
      "busy@example.com",
      "--plan",
      "licensed",
    );
    const numbers = Array.from({ length: 1001 }, (_, n) => n);
    const rows = (values: (n: number) => (string | number)[]) =>
      numbers.map((n) => `(${values(n).map((value) => `'${value}'`)})`).join(",");
    // Of each two of one instant, the later id comes first.
    await stage.query(`INSERT INTO holds (id, account_id, backend_id, thousandths, reason, created_at_ms, expires_at_ms)
      VALUES ${rows((n) => [`hold_${9999 - n}`, id, "worker", 1000, n, n >> 1, 1])}`);
    await stage.query(`INSERT INTO events (id, account_id, type, data, at_ms)
      VALUES ${rows((n) => [`evt_${9999 - n}`, id, "credits.changed", `{"n":${n}}`, 1])}`);
    const { holds, events } = await service.adminJson<Kept>("person", "export", "busy@example.com");
    const inPairs = numbers.map((n) => Math.min(1000, n ^ 1));
    expect(holds.map(({ reason }) => Number(reason))).toEqual(inPairs);
    const written = events.flatMap(({ n }) => n ?? []);
    expect(written).toEqual(numbers);
    const kept = await exportPerson(await stage.open(), "busy@example.com", Date.now());
    for (const part of [kept.holds, kept.events, kept.credits, kept.changes])
      expect(part).toHaveProperty("next");
  });
});
