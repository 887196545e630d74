import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startStage } from "@/tests/support/block";
import { makeClock } from "@/tests/support/clock";
import { engines } from "@/tests/support/engines";
import { operate } from "@/tests/support/operator";
import { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const minuteMs = 60_000;

describe.each(engines)("what an operator is told, on $name", async (engine) => {
  const clock = makeClock();
  const explain = (whom = email) => service.adminJson<{ signIn: string; apps: string }>("explain", whom);

  const stage = await startStage(engine, { isAlone: true });
  const service = await Service.make({
    SIGN_IN: "local",
    ...stage.environment,
    ...clock.environment,
    APP_URL: "https://office.example",
  });
  await service.adminJson("account", "add", email, "--trial-days", "2", "--credits", "3");

  /** Writes a code that was asked for a minute ago, and the last attempt to mail it. */
  async function ask(
    code: { tries?: number; share?: string },
    mail?: { state: string; failure?: string; isOfCodeBefore?: true },
  ) {
    const atMs = clock.now() - minuteMs;
    await stage.query("DELETE FROM sign_in_codes");
    await stage.query("DELETE FROM sign_in_mail_attempts");
    await stage.query(
      `INSERT INTO sign_in_codes (browser_hash, email, code_hash, tries, created_at_ms, expires_at_ms, share)
       VALUES ('b', '${email}', 'c', ${code.tries ?? 0}, ${atMs}, ${atMs + 10 * minuteMs}, '${code.share ?? "stranger"}')`,
    );
    if (!mail) return;
    await stage.query(
      `INSERT INTO sign_in_mail_attempts (id, email, kind, at_ms, state, failure)
       VALUES ('m', '${email}', 'code', ${atMs - (mail.isOfCodeBefore ? 1 : 0)}, '${mail.state}', ${mail.failure ? `'${mail.failure}'` : "NULL"})`,
    );
  }

  it("says whose former email it is", async () => {
    await stage.query(
      `INSERT INTO email_changes (id, account_id, from_email, to_email, mailbox_hash, asked_at_ms, until_ms, changed_at_ms)
       SELECT 'moved', id, 'before@example.com', email, 'x', 1, 0, ${clock.now() - dayMs} FROM accounts`,
    );
    expect((await explain("before@example.com")).signIn).toMatch(
      /^There is no account with this email: its owner changed it to ceo@example\.com at \S+ \(1 day ago\)\.$/,
    );
    const unasked = (...args: string[]) => operate(args, service.environment);
    const whose = "The account of ceo@example.com, whose owner had this email before,";
    const exported = await unasked("person", "export", "before@example.com");
    expect(exported).toMatchObject({ code: 1, stderr: expect.stringContaining(`${whose} is not in this.`) });
    const erased = await unasked("person", "erase", "before@example.com");
    expect(erased).toMatchObject({ code: 1, stderr: expect.stringContaining(`${whose} stays.`) });
    expect((await unasked("person", "export", email)).code).toBe(0);
    await stage.query("DELETE FROM email_changes");
  });

  it("says that no code is open", async () => {
    expect((await explain()).signIn).toBe(
      "They can sign in; no code is pending. Sign-in is at https://office.example/sign-in.",
    );
  });

  it.each([
    [{}, undefined, /^They asked for a code \S+ \(1 minute ago\), and its mail was not sent yet\.$/],
    [
      {},
      { state: "failed", isOfCodeBefore: true as const },
      /^They asked for a code \S+ \(1 minute ago\), and its mail was not sent yet\.$/,
    ],
    [
      {},
      { state: "sent" },
      /^A code was mailed \S+ \(1 minute ago\), and it was not typed\. It is valid\. It is only in a file: /,
    ],
    [
      { tries: 2 },
      { state: "sent" },
      /^A code was mailed \S+ \(1 minute ago\), and 2 wrong ones were typed\. It is valid\. It is only in a file: no mail is delivered here\.$/,
    ],
    [{ tries: 5 }, { state: "sent" }, /^They typed 5 wrong codes\. They must ask for another one\.$/],
    [
      { share: "long" },
      { state: "sent" },
      /^So many short codes were asked for in a day that only the long code/,
    ],
    [
      {},
      { state: "retrying", failure: "451 Greylisted" },
      /^The mail with their code was not accepted \(451 Greylisted\), and is being tried again\.$/,
    ],
    [
      {},
      { state: "failed", failure: "550 No such user" },
      /^The mail with their code was not accepted \(550 No such user\), and was given up\.$/,
    ],
  ])("says why a code %j with a mail %j did not help", async (code, mail, sentence) => {
    await ask(code, mail);
    expect((await explain()).signIn).toMatch(sentence);
  });

  it("says what the API answers", async () => {
    expect((await explain()).apps).toBe(
      "The API answers trial, so apps may run. No app is connected yet; one that is not is told signed-out.",
    );
    await service.token(email);
    expect((await explain()).apps).toBe("The API answers trial, so apps may run.");
    await stage.query(`UPDATE accounts SET trial_ends_at_ms = ${clock.now() - 1}`);
    expect((await explain()).apps).toMatch(/^The API answers trial-ended\. /);
    await stage.query(`UPDATE accounts SET plan = 'odd'`);
    expect((await explain()).apps).toMatch(
      /^The API answers invalid\. The record of the account is not valid\./,
    );
    await stage.query(`UPDATE accounts SET plan = 'trial', trial_ends_at_ms = ${clock.now() + 3 * dayMs}`);
  });

  it("says in `check` that mails are refused, which the mail server says of a mail alone", async () => {
    await ask({}, { state: "failed", failure: "smtp: 550 5.1.1 RCPT TO" });
    expect(await service.check("mails")).toMatchObject({
      level: "fine",
      detail: "none was refused that is tried again",
    });
    await ask({}, { state: "retrying", failure: "smtp: 550 5.7.1 RCPT TO" });
    expect(await service.check("mails")).toMatchObject({
      level: "warning",
      detail: expect.stringMatching(
        /^1 were not accepted and are tried again; the last \S+Z: smtp: 550 5\.7\.1 RCPT TO$/,
      ),
    });
  });

  it("says nothing of a code that was asked for before they signed in", async () => {
    await ask({}, { state: "sent" });
    const [code] = await stage.query("SELECT created_at_ms FROM sign_in_codes");
    const askedMs = Number(code?.created_at_ms);
    await stage.query(`UPDATE local_sessions SET confirmed_at_ms = ${askedMs}`);
    expect((await explain()).signIn).toMatch(/^A code was mailed /);
    await stage.query(`UPDATE local_sessions SET confirmed_at_ms = ${askedMs + 1}`);
    expect((await explain()).signIn).toMatch(/^They can sign in; no code is pending\./);
  });

  it("says why someone without an account cannot sign in", async () => {
    expect((await explain("typo@example.com")).signIn).toMatch(
      /^There is no account, no invitation and no entry/,
    );
    const joinedMs = clock.now();
    await stage.query(`INSERT INTO waitlist (email, joined_at_ms) VALUES ('new@example.com', ${joinedMs})`);
    const waits = "There is no account: they are on the waitlist, and were not invited.";
    expect((await explain("new@example.com")).signIn).toBe(waits);
    await service.adminJson("waitlist", "invite", "new@example.com");
    const invited = "There is no account: they have not accepted their invitation.";
    expect((await explain("new@example.com")).signIn).toBe(invited);
    expect(
      await operate(["account", "set", "new@example.com", "--plan", "hobby"], service.environment),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("They were invited, and have not accepted: 'invite' again says"),
    });
    expect((await service.admin("emails", "list", "new@example.com")).stdout).toMatch(/ invitation +.* sent/);
    await stage.query(
      `UPDATE invitations SET expires_at_ms = ${clock.now()} WHERE email = 'new@example.com'`,
    );
    const expired = "There is no account: their invitation expired. Invite them again.";
    expect((await explain("new@example.com")).signIn).toBe(expired);
  });

  it("says since when an app that has ended is told signed-out, and why", async () => {
    await stage.query("DELETE FROM local_sessions");
    await service.token(email);
    await stage.query("UPDATE local_sessions SET kind = 'app', name = 'Desk'");
    await service.admin("session", "end", email, "--all", "--yes");
    const { apps, told } = await service.adminJson<{ apps: string; told: object[] }>("explain", email);
    expect(apps).toMatch(
      /^The API answers trial, so apps may run\. No app is connected: “Desk” is told signed-out since \S+ \(now\)\. The operator ended this access\.$/,
    );
    const since = expect.stringMatching(/^2\S+Z$/);
    expect(told).toEqual([
      { app: "Desk", told: "signed-out", since, why: "The operator ended this access." },
    ]);
    await stage.query("DELETE FROM local_sessions");
  });

  it("fits on one screen", async () => {
    const { stdout } = await service.admin("explain", email);
    expect(stdout.split("\n").length).toBeLessThan(24);
    expect(stdout).toMatch(/^account +trial, ends \S+ \(in 3 days\)$/m);
    expect(stdout).toMatch(/^credits +3$/m);
    expect(stdout, "no app was told anything").toMatch(/\S\n$/);
  });

  it("counts in `overview` what wants attention", async () => {
    await service.adminJson("account", "add", "two@example.com", "--plan", "licensed");
    await service.adminJson("account", "add", "three@example.com", "--trial-days", "20");
    await stage.query(`INSERT INTO waitlist (email, joined_at_ms) VALUES ('waits@example.com', 1)`);
    await stage.query(
      `INSERT INTO email_suppressions (email_hash, created_at_ms) VALUES ('x', ${clock.now()})`,
    );
    await ask({}, { state: "failed", failure: "550 No such user" });
    expect(await service.adminJson("overview")).toEqual({
      accounts: { trials: 2, endedTrials: 0, licensed: 1, hobby: 0 },
      waiting: 1,
      oldestWaitingAtMs: 1,
      connectedApps: 0,
      mailsFailedIn30Days: 1,
      mailsNotOpened: 0,
      unsubscribedIn30Days: 1,
      customers: {
        "past-due": 0,
        unpaid: 0,
        unfinished: 0,
        paused: 0,
        ending: 0,
        refunded: 0,
        disputed: 0,
        unknown: 0,
      },
      billing: {
        unclaimed: 0,
        unknownToStripe: 0,
        unsettledForADay: 0,
        orphanedIn30Days: 0,
        retiredPrices: [],
        returnedIn30Days: 0,
        twiceIn30Days: 0,
      },
      trialsEnding: [{ email, endsAt: expect.stringMatching(/Z$/) }],
      days: {
        signIns: Array(30).fill(0),
        newAccounts: [...Array(29).fill(0), 3],
        unsubscribes: [...Array(29).fill(0), 1],
      },
    });
    expect((await service.admin("overview")).stdout).toMatch(/^ceo@example\.com +\S+ \(in 3 days\)$/m);
  });

  it("lists the audit in lines, with credits, reasons and emails", async () => {
    await service.adminJson("credits", "add", email, "2.5", "--reason", "a present");
    const { stdout } = await service.admin("audit", "list", "--of", email);
    expect(stdout).toMatch(
      / operator \S+ +credits add +ceo@example\.com +credits 3 → 5\.5, reason a present$/m,
    );
    const all = await service.admin("audit", "list");
    expect(all.stdout).toMatch(/ keys make +- +[\w-]{43} \(signs from \d{4}-\S+Z\)$/m);
  });
});
