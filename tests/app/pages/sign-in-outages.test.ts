import { describe, expect, it } from "vitest";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { codeTo } from "@/tests/support/mailbox";
import { authorizePath, redirectUri } from "@/tests/support/oauth-libraries";
import type { Answer } from "@/tests/support/service";

const heading = ({ text }: Answer) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1];

describe.each(engines)("while the store is unavailable, on $name", async (engine) => {
  const stage = await startStage(engine);
  const settings = { TRUSTED_PROXY_HOPS: "1", ...stage.environment };
  // The errors of an outage are logged in batches, the last after the test that expects them.
  const service = await startService(settings, { expectErrors: true });

  /** Runs work while a table is missing, and takes the logged errors. */
  async function without<T>(table: string, work: () => Promise<T>): Promise<T> {
    await stage.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    try {
      return await work();
    } finally {
      await stage.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
      await eventually(() => expect(service.takeErrors().length).toBeGreaterThan(0));
    }
  }

  const signedIn = (email: string) => Browser.admit(service, email, "--plan", "licensed");

  /** A browser that has requested a code, and the code. */
  async function requestCode(email: string) {
    await service.adminJson("account", "add", email, "--plan", "licensed");
    const browser = new Browser(service);
    await browser.submit("/sign-in/send", { email });
    return { browser, code: await codeTo(service.dataDir, email) };
  }

  /** Opens a page and follows its redirects, as a browser does. */
  async function follow(browser: Browser, path: string): Promise<{ path: string; page: Answer }> {
    const page = await browser.open(path);
    const { location } = page.headers;
    return location ? follow(browser, location) : { path, page };
  }

  /** Matches a page that reloads by itself, without scripts too. */
  const comesBackTo = (path: string) =>
    expect.stringContaining(`<noscript><meta http-equiv="refresh" content="5; url=${path}"/></noscript>`);

  const reference = ({ headers }: Pick<Answer, "headers">) => `<code>${headers["x-request-id"]}</code>`;

  it("home shows an outage, and a browser that returns after a minute is signed in again", async () => {
    const browser = await signedIn("minute@example.com");
    browser.cookies.delete("__session");
    const away = await without("local_sessions", async () => {
      const headers = { cookie: browser.cookie };
      for (const [path, code] of [
        ["/api/entitlement", "unavailable"],
        ["/api/credits/balance", "balance_unavailable"],
      ] as const) {
        const { status, headers: sent, text } = await service.ask(path, { headers });
        expect([status, JSON.parse(text).error.code]).toEqual([503, code]);
        expect(sent["retry-after"]).toMatch(/^[1-9]\d*$/);
      }
      return follow(browser, "/home");
    });
    expect(away.path).toBe("/home");
    expect(away.page.status).toBe(200);
    expect(heading(away.page)).toBe("We cannot check your account at the moment");
    expect(away.page.text).toContain("nothing is lost");
    expect(away.page.text).toEqual(comesBackTo("/home"));
    expect(browser.cookies.has("office-client")).toBe(true);
    const back = await follow(browser, "/home");
    expect([back.path, heading(back.page)]).toEqual(["/home", "Your plan is active"]);
  });

  it("home shows the outage too while the session's token is valid", async () => {
    const browser = await signedIn("good@example.com");
    const { path, page } = await without("accounts", () => follow(browser, "/home"));
    expect([path, heading(page)]).toEqual(["/home", "We cannot check your account at the moment"]);
    expect(page.text).toEqual(comesBackTo("/home"));
    expect(page.text).toContain(reference(page));
  });

  it("forms that fail do not count towards their sender's limit", async () => {
    const browser = new Browser(service);
    await without("sign_in_codes", async () => {
      for (let sent = 0; sent < 35; sent++) {
        const { headers } = await browser.submit("/sign-in/send", { email: "patient@example.com" });
        expect(headers.location).toBe(`/sign-in?problem=unavailable&reference=${headers["x-request-id"]}`);
      }
    });
    const { headers } = await browser.submit("/sign-in/send", { email: "patient@example.com" });
    expect(headers.location).toBe("/sign-in/code");
  });

  it("a sign-out without cookies uses no store", async () => {
    const answer = await without("local_sessions", async () => {
      await new Browser(service).submit("/sign-in/out", {}, { cookie: "office-client=x" });
      return new Browser(service).submit("/sign-in/out");
    });
    expect(answer.headers.location).toBe("/");
  });

  it("the code page shows the outage, keeps the requested code, and accepts it afterwards", async () => {
    const { browser, code } = await requestCode("code@example.com");
    const { path, page } = await without("sign_in_codes", async () => {
      const typed = await browser.submit("/sign-in/redeem", { code });
      expect(typed.headers.location).toBe(
        `/sign-in/code?problem=unavailable&reference=${typed.headers["x-request-id"]}`,
      );
      return follow(browser, "/sign-in/code");
    });
    expect([path, page.status]).toEqual(["/sign-in/code", 200]);
    expect(heading(page)).toBe("We cannot check codes at the moment");
    expect(page.text).toContain("your code stays valid");
    expect(page.text).toContain(reference(page));
    expect(page.text).toEqual(comesBackTo("/sign-in/code"));
    expect((await browser.submit("/sign-in/redeem", { code })).headers.location).toBe("/home");
  });

  it("a code is not used up while its session cannot be started", async () => {
    const { browser, code } = await requestCode("session@example.com");
    const typed = await without("local_sessions", () => browser.submit("/sign-in/redeem", { code }));
    expect(typed.headers.location).toBe(
      `/sign-in/code?problem=unavailable&reference=${typed.headers["x-request-id"]}`,
    );
    expect((await browser.submit("/sign-in/redeem", { code })).headers.location).toBe("/home");
    expect(await browser.status()).toBe(200);
  });

  it("the sign-in page keeps the email, and says that the failure is not the reader's", async () => {
    const browser = new Browser(service);
    const { path, page } = await without("sign_in_codes", async () => {
      const asked = await browser.submit("/sign-in/send", { email: "ceo@example.com" });
      return follow(browser, asked.headers.location ?? "");
    });
    expect(path).toMatch(/^\/sign-in\?problem=unavailable&reference=[\w-]{36}$/);
    expect(page.text).toContain("Something went wrong on our side, and nothing was changed.");
    expect(page.text).toMatch(/<input id="email"[^>]* value="ceo@example.com"/);
    expect(page.text).not.toContain('aria-invalid="');
  });

  it("an invitation says that it stays valid", async () => {
    const { url } = await service.adminJson<{ url: string }>("invite", "guest@example.com");
    const { pathname, search } = new URL(url);
    const browser = new Browser(service);
    const { page } = await without("invitations", () => follow(browser, pathname + search));
    expect([page.status, heading(page)]).toEqual([200, "We cannot read the invitation at the moment"]);
    expect(page.text).toContain(reference(page));
    expect(page.text).toEqual(comesBackTo(pathname + search));
    expect(heading((await follow(browser, pathname + search)).page)).toBe("You are invited");
  });

  it("an app's request that fails shows its owner words, with the id that the log has", async () => {
    const path = authorizePath("native", redirectUri);
    const [page, forPrograms] = await without("connect_state", async () => [
      await service.ask(path, { headers: { accept: "text/html" } }),
      await service.ask(path),
    ]);
    const id = page.headers["x-request-id"];
    expect([page.status, page.headers["content-type"], page.text]).toEqual([
      503,
      "text/plain; charset=utf-8",
      `The service cannot answer this at the moment. Reload this page in a moment. If it happens again, quote reference ${id}.\n`,
    ]);
    expect([forPrograms.status, JSON.parse(forPrograms.text).error.code]).toEqual([503, "unavailable"]);
    await eventually(() =>
      expect(service.log).toMatch(new RegExp(`"requestId":"${id}".*unexpected failure`)),
    );
  });

  it("signing out shows that it failed, and can be repeated", async () => {
    const browser = await signedIn("stuck@example.com");
    const { location = "", ...headers } = await without("local_sessions", async () => {
      const { status, headers } = await browser.submit("/sign-in/out");
      expect([status, headers["set-cookie"]]).toEqual([303, undefined]);
      return headers;
    });
    expect(location).toBe(`/home?problem=sign-out&reference=${headers["x-request-id"]}`);
    const { text } = await browser.open(location);
    expect(text).toContain("you are still signed in");
    expect(text).toContain(reference({ headers }));
    const token = browser.cookies.get("__session") ?? "";
    expect((await browser.submit("/sign-in/out")).headers.location).toBe("/");
    expect(browser.cookies.has("office-client")).toBe(false);
    expect(await service.statusFor(token)).toBe(401);
  });

  it("an ended session leads to sign-in, and one whose account cannot be read stays on home", async () => {
    const browser = await signedIn("ended@example.com");
    await service.adminJson("session", "end", "ended@example.com", "--all");
    const { path, page } = await follow(browser, "/home");
    expect(path).toBe("/sign-in?problem=ended");
    expect(page.text).toContain("Your session has ended.");

    const other = await signedIn("odd@example.com");
    await stage.query("UPDATE accounts SET plan = 'odd' WHERE email = 'odd@example.com'");
    for (const token of ["", "x"]) {
      other.cookies.set("__session", token);
      expect(heading(await other.open("/home"))).toBe("We cannot read your account");
      expect((await other.submit("/sign-in/renew")).status).toBe(204);
    }
    await stage.query("UPDATE accounts SET plan = 'licensed' WHERE email = 'odd@example.com'");
  });
});
