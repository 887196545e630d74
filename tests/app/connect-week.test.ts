import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
import { eventually } from "@/tests/support/databases";
import { engines, type Stage } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { type App, openidClient, type Tokens } from "@/tests/support/oauth-libraries";
import { answerApp } from "@/tests/support/owner";
import { Service } from "@/tests/support/service";

const email = "ceo@example.com";
const hourMs = 60 * 60 * 1000;
const refused = { error: "invalid_grant" };
/** The `exp` of an access token. */
const endOf = ({ access_token }: Tokens): number =>
  JSON.parse(Buffer.from(access_token.split(".")[1] ?? "", "base64url").toString()).exp;

describe.each(engines)("an app that was approved once, on $name", (engine) => {
  const clock = makeClock();
  let stage: Stage;
  let service: Service;
  let app: App;

  beforeAll(async () => {
    stage = await engine.prepare();
    service = await Service.start({ ...stage.environment, ...clock.environment });
    for (const each of [email, "other@example.com"])
      await service.adminJson("account", "add", each, "--plan", "licensed");
    app = await openidClient.makeApp(service);
  });
  afterAll(async () => {
    await service.stop();
    await stage.clear();
  });

  const entitlement = async ({ access_token }: Tokens) =>
    (await service.ask("/api/entitlement", { headers: { authorization: `Bearer ${access_token}` } })).status;

  async function connect(): Promise<Tokens> {
    const { address, redeem } = await app.ask();
    const browser = await Browser.signIn(service, email);
    return redeem(new URL(await answerApp(browser, service, address.href)));
  }

  /** Lets eight hours pass, in which the token expires, and renews it like the app does. */
  async function goOn(tokens: Tokens): Promise<Tokens> {
    clock.pass(8 * hourMs);
    expect(await entitlement(tokens), "a token of eight hours ago").toBe(401);
    const renewed = await app.refresh(tokens.refresh_token);
    expect(renewed.expires_in).toBeLessThanOrEqual(3600);
    expect(await entitlement(renewed)).toBe(200);
    return renewed;
  }

  it("renews its token for seven days without the owner, and is refused afterwards", async () => {
    let tokens = await connect();
    for (let hours = 8; hours < 7 * 24; hours += 8) tokens = await goOn(tokens);
    clock.pass(7.5 * hourMs);
    tokens = await app.refresh(tokens.refresh_token);
    const sessions = await service.adminJson<{ kind: string; endsAt: string }[]>("session", "list", email);
    const { endsAt = "" } = sessions.find(({ kind }) => kind === "app") ?? {};
    expect(endOf(tokens), "the last token expires with the session").toBe(
      Math.floor(Date.parse(endsAt) / 1000),
    );
    const entries = await service.adminJson<{ what: string }[]>("audit", "list", "--of", email);
    expect(entries.filter(({ what }) => what === "app approve")).toHaveLength(1);
    clock.pass(hourMs);
    expect(await entitlement(tokens)).toBe(401);
    await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
  });

  it("is announced to its owner by a mail when it is connected, which names it", async () => {
    const named = async () =>
      (await mailsTo(service.dataDir, email)).filter(
        ({ subject }) => subject === "An app was connected to your account",
      );
    const before = (await named()).length;
    await connect();
    await eventually(async () => expect(await named()).toHaveLength(before + 1));
    const [mail] = (await named()).slice(-1);
    const sessions = await service.adminJson<{ kind: string; name: string }[]>("session", "list", email);
    const { name = "" } = sessions.find(({ kind }) => kind === "app") ?? {};
    expect(mail?.text).toMatch(/^An app was connected to your account on .+ UTC:/);
    expect(mail?.text).toContain(`It calls itself: “${name}”`);
    expect(mail?.text).toContain("We verified that it is: a program on a computer");
    expect(mail?.text).toContain(`${service.url}/home`);
  });

  it("is refused from its next request on after `admin session end`, on any day", async () => {
    let tokens = await connect();
    for (let day = 0; day < 5; day++) tokens = await goOn(tokens);
    const sessions = await service.adminJson<{ id: string; kind: string }[]>("session", "list", email);
    const { id = "" } = sessions.find(({ kind }) => kind === "app") ?? {};
    await service.adminJson("session", "end", email, id);
    expect(await entitlement(tokens)).toBe(401);
    await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
  });

  describe("that its owner gives another week on /home", () => {
    const path = "/home/sessions/extend";
    const list = async () =>
      (
        await service.adminJson<{ id: string; kind: string; endsAt: string }[]>("session", "list", email)
      ).filter(({ kind }) => kind === "app");
    const onlyApp = async () => (await list())[0] ?? expect.fail("there is an app");
    const daysLeft = async () => (Date.parse((await onlyApp()).endsAt) - clock.now()) / (24 * hourMs);

    beforeEach(async () => {
      await service.adminJson("session", "end", email, "--all");
    });

    it("goes on for seven days from then, however often, and also if it rests that long", async () => {
      let tokens = await connect();
      for (let week = 0; week < 3; week++) {
        clock.pass(6 * 24 * hourMs);
        const browser = await Browser.signIn(service, email);
        expect((await browser.open("/home/access")).text).toContain("Ends in 24 hours · ");
        const { id } = await onlyApp();
        const { status, headers } = await browser.pressAtHome(path, { session: id });
        expect([status, headers.location]).toEqual([303, "/home/access?extended#sessions"]);
        const { text } = await browser.open("/home/access?extended");
        expect(text).toContain("The app has another week.");
        expect(text).toContain("Ends in 7 days · ");
        expect(await daysLeft()).toBeCloseTo(7, 2);
        // Older than the week for which it was given.
        clock.pass(6.9 * 24 * hourMs);
        tokens = await app.refresh(tokens.refresh_token);
        expect(await entitlement(tokens)).toBe(200);
        const again = await Browser.signIn(service, email);
        await again.pressAtHome(path, { session: id });
      }
      clock.pass(7 * 24 * hourMs + 1000);
      await expect(app.refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
    });

    it("gets it whole or not at all", async () => {
      await connect();
      const { id, endsAt } = await onlyApp();
      clock.pass(24 * hourMs);
      const browser = await Browser.signIn(service, email);
      await browser.open("/home/access");
      await stage.query("ALTER TABLE connect_state RENAME TO away");
      const { status } = await browser.pressAtHome(path, { session: id });
      await stage.query("ALTER TABLE away RENAME TO connect_state");
      expect(status).toBe(303);
      expect((await onlyApp()).endsAt).toBe(endsAt);
      await eventually(() => expect(service.takeErrors()).toContain("unexpected failure"));
    });

    it("has it recorded in the audit", async () => {
      await connect();
      clock.pass(24 * hourMs);
      const { id, endsAt } = await onlyApp();
      await (await Browser.signIn(service, email)).pressAtHome(path, { session: id });
      const [entry] = await service.adminJson<object[]>("audit", "list", "--of", email);
      expect(entry).toMatchObject({
        who: "owner",
        what: "app extend",
        before: { endsAt },
        after: { endsAt: (await onlyApp()).endsAt },
      });
    });

    it("gets it by no token, page or account but its owner's", async () => {
      const tokens = await connect();
      const own = await Browser.signIn(service, email);
      const other = await Browser.signIn(service, "other@example.com");
      const token = JSON.parse((await own.pressAtHome("/home/token")).text).token;
      const before = await list();
      const { id } = await onlyApp();
      const [, account = ""] =
        /name="account" value="([^"]+)"/.exec((await own.open("/home/access")).text) ?? [];
      clock.pass(1000);
      for (const bearer of [tokens.access_token, token]) {
        const headers = { authorization: `Bearer ${bearer}` };
        const { status } = await service.submit(path, { account, session: id }, { headers });
        expect(status).toBe(403);
        const together = { headers: { ...headers, cookie: own.cookie } };
        expect((await service.submit(path, { account, session: id }, together)).status).toBe(403);
        const asCookie = { headers: { cookie: `__session=${bearer}` } };
        const { location } = (await service.submit(path, { account, session: id }, asCookie)).headers;
        expect(location).toBe("/sign-in?problem=ended");
      }
      const foreign = { origin: "https://evil.example" };
      expect((await own.submit(path, { account, session: id }, foreign)).status).toBe(403);
      const elsewhere = await own.submit(path, { account: "acc_other", session: id });
      expect(elsewhere.headers.location).toBe("/home/access?problem=account");
      const strangers = await other.pressAtHome(path, { session: id });
      expect(strangers.headers.location).toBe("/home/access?problem=app-ended");
      expect((await service.ask(path, { headers: { cookie: own.cookie } })).status).toBe(405);
      expect(await list()).toEqual(before);
    });

    it("does not get it after its end, nor does a browser or a program", async () => {
      const tokens = await connect();
      const own = await Browser.signIn(service, email);
      await own.pressAtHome("/home/token");
      const { id } = await onlyApp();
      const others = await service.adminJson<{ id: string; kind: string }[]>("session", "list", email);
      await service.adminJson("session", "end", email, id);
      for (const session of [id, "", ...others.filter(({ kind }) => kind !== "app").map(({ id }) => id)]) {
        const { headers } = await own.pressAtHome(path, { session });
        expect(headers.location).toBe("/home/access?problem=app-ended");
      }
      expect((await own.open("/home/access?problem=app-ended")).text).toContain(
        "This app’s access has already ended.",
      );
      expect(await entitlement(tokens)).toBe(401);
      expect(await list()).toEqual([]);
    });
  });

  describe("gets its owner one mail a day before its end", () => {
    const subject = "An app loses access to your account tomorrow";
    const sendDue = () => service.adminJson("emails", "send-due");
    const mails = async () =>
      (await mailsTo(service.dataDir, email)).filter((mail) => mail.subject === subject);
    /** Connects an app that is used on each of its first days. */
    async function connectAndUse(days: number): Promise<Tokens> {
      let tokens = await connect();
      for (let day = 0; day < days; day++) {
        clock.pass(24 * hourMs);
        tokens = await app.refresh(tokens.refresh_token);
        expect(await entitlement(tokens)).toBe(200);
      }
      return tokens;
    }
    const switchMails = async (mails: "on" | "off") => {
      const browser = await Browser.signIn(service, email);
      const { headers } = await browser.pressAtHome("/home/app-mails", { mails });
      expect(headers.location).toBe("/home/access#sessions");
      return browser;
    };

    beforeEach(async () => {
      await service.adminJson("session", "end", email, "--all");
      for (const name of readdirSync(join(service.dataDir, "mail")))
        rmSync(join(service.dataDir, "mail", name));
    });

    it("with a link to the access page and no secret, and says how to switch it off", async () => {
      await connectAndUse(5);
      clock.pass(24 * hourMs - 60_000);
      await sendDue();
      expect(await mails()).toEqual([]);
      clock.pass(120_000);
      for (let time = 0; time < 3; time++) await sendDue();
      const [mail, ...others] = await mails();
      expect(others).toEqual([]);
      expect(mail?.text).toContain("“A program on this computer”, as the app calls itself, loses access");
      expect(mail?.text).toContain("You can switch these emails off on your access page");
      const links = [mail?.text, mail?.html].flatMap((part) => part?.match(/https?:[^"\s<]+/g) ?? []);
      expect(new Set(links)).toEqual(new Set([`${service.url}/home/access`]));
      expect(mail?.headers.find(({ key }) => key === "list-unsubscribe")).toBeUndefined();
      clock.pass(25 * hourMs);
      await sendDue();
      expect(await mails()).toHaveLength(1);
    });

    it("not if it was not used for three days, nor if it has ended", async () => {
      await connectAndUse(2);
      await connectAndUse(0);
      await connectAndUse(2);
      const [last] = await service.adminJson<{ id: string; kind: string }[]>("session", "list", email);
      await service.adminJson("session", "end", email, last?.id ?? "");
      clock.pass(4.1 * 24 * hourMs);
      await sendDue();
      clock.pass(2 * 24 * hourMs);
      await sendDue();
      expect(await mails()).toEqual([]);
    });

    it("and a second one only before the end of another week", async () => {
      const tokens = await connectAndUse(5);
      const [session] = await service.adminJson<{ id: string; kind: string }[]>("session", "list", email);
      const extend = async () =>
        (await Browser.signIn(service, email)).pressAtHome("/home/sessions/extend", {
          session: session?.id ?? "",
        });
      expect((await extend()).headers.location).toBe("/home/access?extended#sessions");
      clock.pass(1.5 * 24 * hourMs);
      await sendDue();
      expect(await mails(), "the first end has moved").toEqual([]);
      clock.pass(3 * 24 * hourMs);
      expect(await entitlement(await app.refresh(tokens.refresh_token))).toBe(200);
      clock.pass(1.6 * 24 * hourMs);
      await sendDue();
      expect(await mails()).toHaveLength(1);
      await extend();
      await sendDue();
      expect(await mails()).toHaveLength(1);
    });

    it("unless the owner has switched these mails off, which the export shows", async () => {
      const wants = async () =>
        (await service.adminJson<{ wantsAppEndMails: boolean }>("person", "export", email)).wantsAppEndMails;
      await connectAndUse(5);
      expect(await wants()).toBe(true);
      const off = await switchMails("off");
      expect((await off.open("/home/access")).text).toContain(
        "We do not email you before an app loses access.",
      );
      expect(await wants()).toBe(false);
      clock.pass(1.1 * 24 * hourMs);
      await sendDue();
      expect(await mails()).toEqual([]);
      const on = await switchMails("on");
      expect((await on.open("/home/access")).text).toContain(
        "We email you a day before an app that you use loses access.",
      );
      expect(await wants()).toBe(true);
      const changes = await service.adminJson<{ what: string }[]>("audit", "list", "--of", email);
      const switched = changes.map(({ what }) => what).filter((what) => what.startsWith("app mails"));
      expect(switched).toEqual(["app mails on", "app mails off"]);
    });

    it("and takes the switch only from the owner's own page", async () => {
      await connect();
      const own = await Browser.signIn(service, email);
      const fields = { mails: "off" };
      const foreign = { origin: "https://evil.example" };
      expect((await own.submit("/home/app-mails", fields, foreign)).status).toBe(403);
      const headers = { authorization: `Bearer ${await service.token(email)}` };
      expect((await service.submit("/home/app-mails", fields, { headers })).status).toBe(403);
      expect(
        (await own.submit("/home/app-mails", { account: "acc_other", mails: "off" })).headers.location,
      ).toBe("/home/access?problem=account");
      expect((await own.open("/home/access")).text).toContain("We email you a day before");
    });
  });
});
