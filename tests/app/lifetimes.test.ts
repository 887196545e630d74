import { decodeJwt } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { makeApp, type Tokens } from "@/tests/support/oauth-libraries";
import { connectApp, readQuestion } from "@/tests/support/owner";

const email = "ceo@example.com";
const hourMs = 60 * 60 * 1000;

describe.each(engines)("an app that was approved once, on $name", async (engine) => {
  const clock = makeClock();
  const stage = await startStage(engine);
  // The files of mails have the machine's time, so they would soon be too old for the clock's.
  const settings = { ...clock.environment, RETENTION_DAYS: "3650" };
  const service = await startService({ ...stage.environment, ...settings });
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const app = await makeApp(service);

  const entitlement = ({ access_token }: Tokens) => service.statusFor(access_token);

  const connect = async (): Promise<Tokens> => connectApp(app, await Browser.signIn(service, email), service);

  const days = (n: number) => clock.pass(n * 24 * hourMs);
  /** What the token endpoint answers to a refresh token. */
  const renew = async (refresh_token = "", client_id = "native") => {
    const fields = { grant_type: "refresh_token", refresh_token, client_id };
    const { status, text } = await service.submit("/oauth/token", fields);
    return { status, ...JSON.parse(text) };
  };
  const refusal = (why: string) => ({
    status: 400,
    error: "invalid_grant",
    error_description: `${why} Ask the owner to connect it again.`,
  });
  const access = async () => (await (await Browser.signIn(service, email)).open("/home/access")).text;

  it("goes on for 180 days if it is used once in 30, says when it ends, and is refused afterwards", async () => {
    const { refresh_token_expires_in, ...first } = (await connect()) as Tokens & Record<string, unknown>;
    let tokens: Tokens = first;
    expect(refresh_token_expires_in).toBeGreaterThan(30 * 24 * 3600 - 60);
    expect(refresh_token_expires_in).toBeLessThanOrEqual(30 * 24 * 3600);
    for (let month = 0; month < 6; month++) {
      days(29);
      expect(await entitlement(tokens), "a token of 29 days ago").toBe(401);
      const { status, ...renewed } = await renew(tokens.refresh_token);
      expect(status).toBe(200);
      const left = month < 5 ? 30 * 24 * 3600 : (180 - 6 * 29) * 24 * 3600;
      expect(renewed.refresh_token_expires_in).toBeGreaterThan(left - 60);
      expect(renewed.refresh_token_expires_in).toBeLessThanOrEqual(left);
      tokens = renewed;
      expect(await entitlement(tokens)).toBe(200);
    }
    clock.pass((180 - 6 * 29) * 24 * hourMs - 0.5 * hourMs);
    tokens = await app.refresh(tokens.refresh_token);
    const sessions = await service.adminJson<{ kind: string; endsAt: string }[]>("session", "list", email);
    const { endsAt = "" } = sessions.find(({ kind }) => kind === "app") ?? {};
    const { exp } = decodeJwt(tokens.access_token);
    expect(exp, "the last token expires with the session").toBe(Math.floor(Date.parse(endsAt) / 1000));
    const entries = await service.audit(email);
    expect(entries.filter(({ what }) => what === "app approve")).toHaveLength(1);
    clock.pass(hourMs);
    expect(await entitlement(tokens)).toBe(401);
    expect(await renew(tokens.refresh_token)).toEqual(refusal("The 180 days of this access are over."));
    expect(await access()).toContain(": its 180 days were over.");
  });

  it("goes on after 29 days without use, and after 31 is refused in words, as long as its owner sees why", async () => {
    const tokens = await connect();
    days(29);
    const renewed = await app.refresh(tokens.refresh_token);
    days(31);
    const idle = refusal("This access was not used for 30 days.");
    expect(await renew(renewed.refresh_token)).toEqual(idle);
    const text = await access();
    expect(text).toContain("No app is connected.");
    expect(text).toContain(": it was not used for 30 days.");
    expect(text).toContain('<a href="#connect-something">Connect again</a>');
    await connect();
    expect(await access()).toContain("Connected again");
    days(28);
    expect(await renew(renewed.refresh_token)).toEqual(idle);
    expect(await access()).toContain(": it was not used for 30 days.");
    days(1.5);
    expect(await renew(renewed.refresh_token)).not.toEqual(idle);
    expect(await access()).not.toContain(": it was not used for 30 days.");
    await service.adminJson("session", "end", email, "--all");
  });

  it("says why it has ended only to the holder of its token, and to its own client", async () => {
    const tokens = await connect();
    const browser = await Browser.signIn(service, email);
    await browser.pressAtHome("/home/sessions/end", { session: "apps" });
    expect(await renew(tokens.refresh_token)).toEqual(refusal("The owner ended this access."));
    expect((await browser.open("/home/access")).text).toContain(": you ended it.");
    const { endedApps } = await service.adminJson<{ endedApps: object[] }>("person", "export", email);
    expect(endedApps[0]).toMatchObject({ name: "A program on this computer", ending: "owner" });
    const unknown = {
      error: "invalid_grant",
      error_description: "It is not known here, or has expired. Ask the owner again.",
    };
    expect(await renew(`${tokens.refresh_token}x`)).toMatchObject(unknown);
    await service.adminJson("connect", "add", "desk", "Desk", "com.example.desk:/a");
    expect((await renew(tokens.refresh_token, "desk")).error_description).not.toContain("owner");
    const again = await connect();
    await service.adminJson("session", "end", email, "--all");
    expect(await renew(again.refresh_token)).toEqual(refusal("The operator ended this access."));
    const revoked = await connect();
    await app.revoke(revoked.refresh_token);
    expect(await access()).toContain(": the app ended it itself.");
    await service.adminJson("connect", "remove", "desk");
  });

  it("is not connected by an answer after 15 minutes", async () => {
    const browser = await Browser.signIn(service, email);
    await browser.open((await app.ask()).address.href.replace(service.url, ""));
    const fields = await readQuestion(browser);
    clock.pass(15 * 60_000);
    const answered = await browser.submit("/connect/answer", { ...fields, answer: "approve" });
    const late = await browser.open(String(answered.headers.location));
    expect(late.headers.location).toBe("/connect?problem=over");
    expect((await browser.open("/connect?problem=over")).text).toContain("This request is over");
  });

  it("is shown with its last check and what it was told", async () => {
    const other = "trial@example.com";
    await service.adminJson("account", "add", other, "--trial-days", "1");
    const browser = await Browser.signIn(service, other);
    const tokens = await connectApp(app, browser, service);
    const shown = async (path = "/home/access") => (await browser.open(path)).text;
    expect(await shown()).not.toMatch(/[Cc]hecked (?:just|\d)/);
    const waiting = /data-checks-after="10".*An app on a Linux computer<.*connected; it hasn’t checked yet</;
    for (const path of ["/home", "/home/access"]) expect(await shown(path)).toMatch(waiting);
    expect(await entitlement(tokens)).toBe(200);
    await eventually(async () => expect(await shown()).toContain("checked just now: allowed"));
    expect(await shown("/home")).toContain("checked your plan just now: your assistants can work there");
    clock.pass(4 * 60_000);
    expect(await shown()).toContain("checked 4 minutes ago: allowed");
    const home = await shown("/home");
    expect(home).toContain("checked your plan 4 minutes ago: your assistants can work there");
    expect(home, "once").not.toContain("checked 4 minutes ago: allowed");
    expect(home).not.toContain('data-checks-after="10"');
    days(1);
    expect(await shown("/home")).not.toContain("checked your plan 1 day ago");
    const renewed = await app.refresh(tokens.refresh_token);
    expect(await entitlement(renewed)).toBe(403);
    await eventually(async () => expect(await shown()).toContain("checked just now: not allowed"));
    await service.adminJson("account", "set", other, "--plan", "hobby");
    expect(await entitlement(renewed), "within the minute").toBe(200);
    await eventually(async () => expect(await shown()).toContain("checked just now: allowed"));
    const { told } = await service.adminJson<{ told: object[] }>("explain", other);
    const name = "A program on this computer";
    const since = expect.stringMatching(/^20\S+Z$/);
    const answers = ["hobby", "trial-ended", "trial"].map((told) => ({ app: name, told, since }));
    expect(told, "each change once, whatever was asked between").toEqual(
      answers.map((answer) => ({ ...answer, why: null })),
    );
    expect((await service.admin("explain", other)).stdout).toMatch(
      /A program on this computer +trial-ended +20/,
    );
    expect(await service.adminJson("person", "export", other)).toMatchObject({ appAnswers: answers });
    days(31);
    await service.adminJson("emails", "send-due");
    await eventually(async () =>
      expect(await stage.query("SELECT 1 FROM app_answers"), "after 30 days").toEqual([]),
    );
  });

  describe("that its owner keeps on /home/access", () => {
    const path = "/home/sessions/keep";
    type Listed = { id: string; kind: string; endsAt: string; lastDate: string };
    const list = async () =>
      (await service.adminJson<Listed[]>("session", "list", email)).filter(({ kind }) => kind === "app");
    const daysUntil = (at: string) => (Date.parse(at) - clock.now()) / (24 * hourMs);

    beforeEach(async () => {
      await service.adminJson("session", "end", email, "--all");
    });

    it("goes on with all others for another 180 days, however often, also if it rests for 29 days between", async () => {
      const [one, other] = [await connect(), await connect()];
      for (let time = 0; time < 7; time++) {
        days(29);
        const browser = await Browser.signIn(service, email);
        expect((await browser.open("/home/access")).text).toContain("Keep all for another 180 days");
        const { status, headers } = await browser.pressAtHome(path);
        expect([status, headers.location]).toEqual([303, "/home/access?kept#sessions"]);
        expect((await browser.open("/home/access?kept")).text).toContain("Your apps have another 180 days.");
        for (const { endsAt, lastDate } of await list()) {
          expect(daysUntil(endsAt)).toBeCloseTo(30, 2);
          expect(daysUntil(lastDate)).toBeCloseTo(180, 2);
        }
      }
      expect(await entitlement(await app.refresh(one.refresh_token))).toBe(200);
      let used: Tokens = other;
      for (let month = 0; month < 4; month++) {
        if (month > 0) days(29);
        used = await app.refresh(used.refresh_token);
        expect(await entitlement(used)).toBe(200);
      }
      days(31);
      expect(await renew(used.refresh_token)).toEqual(refusal("This access was not used for 30 days."));
    });

    it("does not come back with the others once it has ended for lack of use", async () => {
      const rested = await connect();
      days(31);
      await connect();
      await (await Browser.signIn(service, email)).pressAtHome(path);
      expect(await list()).toHaveLength(1);
      expect(await renew(rested.refresh_token)).toEqual(refusal("This access was not used for 30 days."));
    });

    it("is kept whole or not at all", async () => {
      await connect();
      const before = await list();
      days(1);
      const browser = await Browser.signIn(service, email);
      await browser.open("/home/access");
      await stage.query("ALTER TABLE connect_state RENAME TO away");
      const { status } = await browser.pressAtHome(path);
      await stage.query("ALTER TABLE away RENAME TO connect_state");
      expect(status).toBe(303);
      expect(await list()).toEqual(before);
      await eventually(() => expect(service.takeErrors()).toContain("unexpected failure"));
    });

    it("has it recorded in the audit", async () => {
      await connect();
      days(1);
      const [before] = await list();
      await (await Browser.signIn(service, email)).pressAtHome(path);
      const [after] = await list();
      const [entry] = await service.audit(email);
      const stateOf = (app?: Listed) => ({
        [app?.id ?? ""]: { name: "A program on this computer", lastDate: app?.lastDate },
      });
      expect(entry).toMatchObject({
        who: "owner",
        what: "app keep",
        before: stateOf(before),
        after: stateOf(after),
      });
    });

    it("is not kept after its end, nor is a browser or a program", async () => {
      const tokens = await connect();
      const own = await Browser.signIn(service, email);
      await own.pressAtHome("/home/token");
      const others = await service.adminJson<Listed[]>("session", "list", email);
      await service.adminJson("session", "end", email, (await list())[0]?.id ?? "");
      clock.pass(1000);
      const { headers } = await own.pressAtHome(path);
      expect(headers.location).toBe("/home/access?problem=no-apps");
      expect((await own.open("/home/access?problem=no-apps")).text).toContain("No app is connected.");
      expect(await entitlement(tokens)).toBe(401);
      expect(await list()).toEqual([]);
      const left = await service.adminJson<Listed[]>("session", "list", email);
      for (const { id, lastDate } of left) {
        expect(others.find((session) => session.id === id)?.lastDate).toBe(lastDate);
      }
    });
  });

  it("has mails about its last date, which its owner switches off and on again, as the export shows", async () => {
    const wants = async () =>
      (await service.adminJson<{ wantsAppEndMails: boolean }>("person", "export", email)).wantsAppEndMails;
    await connect();
    for (const mails of ["off", "on"]) {
      const browser = await Browser.signIn(service, email);
      const { headers } = await browser.pressAtHome("/home/app-mails", { mails });
      expect(headers.location).toBe("/home/account#emails");
      expect((await browser.open("/home/account")).text).toContain(
        `role="switch" aria-checked="${mails === "on"}" aria-label="Apps about to be disconnected"`,
      );
      expect(await wants()).toBe(mails === "on");
    }
    const changes = (await service.audit(email)).map(({ what }) => what);
    expect(changes.filter((what) => what.startsWith("app mails"))).toEqual(["app mails on", "app mails off"]);
  });
});
