import { describe, expect, it } from "vitest";
import { borrowService, startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { codesTo, codeTo, mailsTo } from "@/tests/support/mailbox";
import type { Answer, Service } from "@/tests/support/service";

/** Signs in as people do. */
async function signIn(browser: Browser, email: string): Promise<void> {
  expect(await browser.redeem(email)).toBe("/home");
}

/** Requests a code from this many addresses, twice from each, and returns the browsers. */
async function flood(service: Service, email: string, attackers: number): Promise<Browser[]> {
  const browsers = Array.from({ length: attackers }, () => new Browser(service));
  for (const browser of browsers) {
    for (let asked = 0; asked < 2; asked++) {
      const { status, headers } = await browser.submit("/sign-in/send", { email });
      expect([status, headers.location]).toEqual([303, "/sign-in/code"]);
    }
  }
  return browsers;
}

/** Sends a public form, which is rate limited per client. */
const sendForm = (browser: Browser) => browser.submit("/waitlist/join", { email: "" });
const isRefused = ({ headers }: Answer) => headers.location?.includes("too-many") ?? false;

describe.each(engines)("on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);

  it("does not lock the owner out of a new browser or of one that signed in before", async () => {
    const email = "flooded@example.com";
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const known = new Browser(service);
    await signIn(known, email);
    const before = await codesTo(service.dataDir, email);

    const attackers = await flood(service, email, 12);
    const long = await eventually(async () => {
      const mailed = (await codesTo(service.dataDir, email)).slice(before.length);
      expect(mailed, "five short codes and a long one").toHaveLength(6);
      return mailed.find((code) => code.includes("-")) ?? expect.fail("no long code");
    });
    for (const attacker of attackers) {
      for (const code of ["000000", "0000-0000-0000", "ZZZZ-ZZZZ-ZZZZ"]) {
        const { headers } = await attacker.submit("/sign-in/redeem", { code });
        expect(headers.location).not.toBe("/home");
      }
    }

    known.cookies.delete("__session");
    known.cookies.delete("office-client");
    await signIn(known, email);

    const fresh = new Browser(service);
    expect((await fresh.submit("/sign-in/send", { email })).headers.location).toBe("/sign-in/code");
    const page = await fresh.open("/sign-in/code");
    expect(page.text).toContain("Enter the long code");
    expect(page.text).toMatch(/was sent at <time dateTime="[^"]+" data-shows="time">\d\d:\d\d UTC</);
    expect(page.text).toMatch(/until <time dateTime="[^"]+" data-shows="time">\d\d:\d\d UTC</);
    const signedIn = await fresh.submit("/sign-in/redeem", { code: long.toLowerCase() });
    expect(signedIn.headers.location).toBe("/home");
    expect(await fresh.status()).toBe(200);
  });

  it("does not reveal whether an email has an account, flooded or not", async () => {
    const [known, unknown] = ["has-one@example.com", "has-none@example.com"];
    await service.adminJson("account", "add", known);
    const pages = [];
    for (const email of [known, unknown]) {
      const [attacker = expect.fail()] = await flood(service, email, 4);
      const last = new Browser(service, attacker.address);
      const asked = await last.submit("/sign-in/send", { email });
      const wrong = await last.submit("/sign-in/redeem", { code: "0000-0000-0000" });
      const malformed = await last.submit("/sign-in/redeem", { code: "not a code" });
      const { status, text } = await last.open("/sign-in/code");
      const plain = text
        .replaceAll(email, "<email>")
        .replace(/\d\d:\d\d(:\d\d\.\d+Z)?/g, "<time>")
        .replace(/"nonce-[^"]+"|nonce="[^"]*"/g, "");
      pages.push({
        asked: [asked.headers.location, asked.text, Object.keys(asked.headers)],
        wrong: wrong.headers.location,
        malformed: malformed.headers.location,
        status,
        plain: plain.length,
      });
    }
    expect(pages[0]).toEqual(pages[1]);
    expect(pages[0]).toMatchObject({
      status: 200,
      wrong: "/sign-in/code?problem=wrong&left=4",
      malformed: "/sign-in/code?problem=form",
    });
    const reader = new Browser(service);
    await reader.submit("/sign-in/send", { email: "reader@example.com" });
    const { text } = await reader.open("/sign-in/code?problem=wrong&left=1");
    expect(text).toContain("That code is not correct. You have one more try.");
    for (const odd of ["0", "2.5", "5", "x"])
      expect((await reader.open(`/sign-in/code?problem=wrong&left=${odd}`)).text).toContain(
        "a few more tries.",
      );
    expect(await mailsTo(service.dataDir, unknown)).toEqual([]);
  });

  it("sends three short codes per client address, whatever its browsers, and continues for others", async () => {
    const email = "besieged@example.com";
    const one = new Browser(service);
    for (let asked = 0; asked < 5; asked++) {
      await new Browser(service, one.address).submit("/sign-in/send", { email });
    }
    await new Browser(service).submit("/sign-in/send", { email });
    const codes = await stage.query(
      `SELECT share, count(*) AS codes FROM sign_in_codes WHERE email = '${email}' GROUP BY share ORDER BY share`,
    );
    expect(codes.map(({ share, codes }) => [share, Number(codes)])).toEqual([
      ["long", 2],
      ["stranger", 4],
    ]);
  });

  /** A browser that has signed in, and another one at its address that has spent the limit of forms. */
  async function spendLimitOfNeighbour() {
    const email = `${crypto.randomUUID()}@example.com`;
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const owner = new Browser(service);
    await signIn(owner, email);
    const neighbour = new Browser(service, owner.address);
    for (let sent = 0; sent < 31; sent++) await sendForm(neighbour);
    return { owner, neighbour, email };
  }

  it("does not charge a browser that signed in before for the forms of another one at its address", async () => {
    const { owner, neighbour } = await spendLimitOfNeighbour();
    expect(isRefused(await sendForm(neighbour))).toBe(true);
    expect(isRefused(await sendForm(owner))).toBe(false);
    const forger = new Browser(service, owner.address);
    for (const made of [
      "x",
      "AAAAAAAAAAAAAAAAAAAAAA.x",
      owner.cookies.get("office-known")?.slice(0, 60) ?? "",
    ]) {
      forger.cookies.set("office-known", made);
      expect(isRefused(await sendForm(forger)), made).toBe(true);
    }
  });

  it("does not know a browser any more whose person was erased", async () => {
    const { owner, email } = await spendLimitOfNeighbour();
    await service.adminJson("person", "erase", email);
    expect(isRefused(await sendForm(owner))).toBe(true);
  });

  it("ignores a problem in the address that is not one of ours", async () => {
    const invited = await service.adminJson<{ url: string }>("invite", `${crypto.randomUUID()}@example.com`);
    const { pathname, search } = new URL(invited.url);
    for (const page of ["/sign-in?", "/waitlist?", `${pathname}${search}&`]) {
      for (const problem of ["__proto__", "constructor", "toString", "hasOwnProperty", "x&problem=y"]) {
        const { status, text } = await service.ask(`${page}problem=${problem}`);
        expect(status, `${page} ${problem}`).toBe(200);
        expect(text).not.toContain('role="alert"');
      }
    }
  });

  describe("signing out", async () => {
    for (const email of ["ceo@example.com", "other@example.com"])
      await service.adminJson("account", "add", email, "--plan", "licensed");

    const statusOf = (browser: Browser) => service.statusFor(browser.valueOf("__session"));
    async function newSession(email = "ceo@example.com"): Promise<Browser> {
      const browser = new Browser(service);
      await signIn(browser, email);
      expect(await statusOf(browser)).toBe(200);
      return browser;
    }
    const signOut = (cookie: string, from = "127.46.0.1") =>
      service.submit("/sign-in/out", {}, { from, headers: { cookie } });
    const cookieOf = (browser: Browser, name: string) => `${name}=${browser.cookies.get(name)}`;

    it("has a limit of its own, which an address's other forms do not use up", async () => {
      const browser = await newSession();
      const kept = browser.cookie;
      for (let sent = 0; sent < 40; sent++) {
        await service.submit("/waitlist/join", { email: "" }, { from: browser.address });
      }
      for (let sent = 0; sent < 40; sent++) expect((await signOut("", browser.address)).status).toBe(303);
      const { headers } = await browser.submit("/sign-in/out");
      expect(headers.location).toBe("/");
      const gone = "; Path=/; Max-Age=0; HttpOnly; SameSite=Lax";
      expect(headers["set-cookie"]?.sort()).toEqual([`__session=${gone}`, `office-client=${gone}`]);
      expect(await statusOf(browser)).toBe(401);
      expect((await browser.submit("/sign-in/renew", {}, { cookie: kept })).status).toBe(401);
      expect((await browser.open("/home")).headers.location).toBe("/sign-in");
      for (let sent = 0; sent < 30; sent++) await signOut("", browser.address);
      const refused = await signOut("", browser.address);
      expect(refused.headers.location).toBe(
        `/home?problem=sign-out&reference=${refused.headers["x-request-id"]}`,
      );
      expect(refused.headers["set-cookie"]).toBeUndefined();
    });

    it.each(["office-client", "__session"])("needs only %s", async (name) => {
      const [mine, other] = [await newSession(), await newSession()];
      await signOut(cookieOf(mine, name));
      expect(await statusOf(mine)).toBe(401);
      expect(await statusOf(other), "another browser of the same person").toBe(200);
    });

    it("ends the two sessions that are proven, none that two cookies of one name claim, and no other", async () => {
      const [mine, doubled] = [await newSession(), await newSession()];
      const another = await newSession("other@example.com");
      const nine = Array.from({ length: 9 }, (_, n) => `office-client=${String(n).repeat(43)}`);
      await signOut([cookieOf(doubled, "office-client"), ...nine].join("; "));
      expect(await statusOf(doubled)).toBe(200);
      await signOut([cookieOf(mine, "office-client"), cookieOf(another, "__session")].join("; "));
      expect(await Promise.all([mine, another, doubled].map(statusOf))).toEqual([401, 401, 200]);
    });
  });
});

describe("behind an unconfigured proxy, over HTTPS", async () => {
  const service = await startService({ APP_URL: "https://office.example.com", SIGN_IN: "local" });

  it("refuses no one else where clients cannot be told apart", async () => {
    const [one, other] = [new Browser(service), new Browser(service)];
    for (let sent = 0; sent < 40; sent++) expect(isRefused(await sendForm(one))).toBe(false);
    expect(isRefused(await sendForm(other))).toBe(false);
  });

  it("accepts only `__Host-` cookies, which no neighbouring host can set (RFC 6265bis §4.1.3.2)", async () => {
    await service.adminJson("account", "add", "attacker@example.com", "--plan", "licensed");
    const attacker = new Browser(service);
    const asked = await attacker.submit("/sign-in/send", { email: "attacker@example.com" });
    const code = await codeTo(service.dataDir, "attacker@example.com");
    const signedIn = await attacker.submit("/sign-in/redeem", { code });
    const set = [asked, signedIn].flatMap(({ headers }) => headers["set-cookie"] ?? []);
    expect(set.length).toBeGreaterThanOrEqual(4);
    for (const cookie of set) {
      expect(cookie).toMatch(
        /^(__Host-office-[a-z]+|__session)=[^;]*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
      );
    }

    const victim = new Browser(service);
    const secret = attacker.cookies.get("__Host-office-client") ?? "";
    for (const name of ["office-client", "__client", "__host-office-client"]) {
      victim.cookies.clear();
      victim.cookies.set(name, secret);
      expect((await victim.submit("/sign-in/renew")).status, name).toBe(401);
    }
  });
});
