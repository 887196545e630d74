import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { codesTo, codeTo, mailsTo, mailTo, newCodeTo } from "@/tests/support/mailbox";
import { type Answer, Service } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

/** The cookies that a response sets, by name: value and attributes. */
function cookiesOf({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(
    (headers["set-cookie"] ?? []).map((cookie) => {
      const at = cookie.indexOf("=");
      return [cookie.slice(0, at), cookie.slice(at + 1)];
    }),
  );
}

const base64url = (text: string) => Buffer.from(text).toString("base64url");
const readValue = (cookie: string | undefined) => cookie?.split(";")[0] ?? "";

describe.each(engines)("local sign-in on $name", async (engine) => {
  const { stage, service } = await borrowService(engine);

  let clients = 0;
  /** A client with a new address. */
  const newClient = () => ({ from: `127.44.0.${++clients}` });

  async function askForCode(email: string, client = newClient()) {
    const answer = await service.submit("/sign-in/send", { email }, client);
    return { answer, browser: readValue(cookiesOf(answer)["office-code"]) };
  }

  const redeem = (browser: string, code: string) => {
    const headers = { cookie: `office-code=${browser}` };
    return service.submit("/sign-in/redeem", { code }, { ...newClient(), headers });
  };

  async function signIn(email: string) {
    const { browser } = await askForCode(email);
    const cookies = cookiesOf(await redeem(browser, await codeTo(service.dataDir, email)));
    return { session: readValue(cookies.__session), client: readValue(cookies["office-client"]) };
  }

  const entitlement = async (headers: Record<string, string>) =>
    (await service.ask("/api/entitlement", { headers })).status;

  it("sends a code to an account's email, and signs in with it", async () => {
    await service.adminJson("account", "add", "ceo@example.com", "--plan", "licensed");
    const { answer, browser } = await askForCode(" CEO@Example.com ");
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe("/sign-in/code");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(cookiesOf(answer)).toEqual({
      "office-code": expect.stringMatching(/^[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/),
      "office-email": `${base64url("CEO@Example.com")}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax`,
    });

    const signedIn = await redeem(browser, await codeTo(service.dataDir, "ceo@example.com"));
    expect(signedIn.status).toBe(303);
    expect(signedIn.headers.location).toBe("/home");
    const cookies = cookiesOf(signedIn);
    expect(cookies).toEqual({
      __session: expect.stringMatching(
        /^[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Lax$/,
      ),
      "office-client": expect.stringMatching(/^[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/),
      "office-known": expect.stringMatching(
        /^[\w-]{22}\.[\w-]{43}\.acc_[\w-]{22}~\d{10}~[\w-]{43}\.[\w-]{43}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax$/,
      ),
      "office-code": "; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
      "office-back": "; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
      "office-email": "; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    });
    const token = readValue(cookies.__session);
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      iss: expect.stringMatching(/^urn:corner-office:/),
      sub: expect.stringMatching(/^user_/),
      sid: expect.stringMatching(/^sess_/),
      azp: service.url,
      iat: expect.any(Number),
      nbf: claims.iat,
      exp: Number(claims.iat) + 60,
    });
    expect(await entitlement({ cookie: `__session=${token}` })).toBe(200);
    expect(await entitlement({ authorization: `Bearer ${token}` })).toBe(200);
  });

  // frappe/erpnext#8174, Trustroots/trustroots#135: the link of a mail that is opened in another browser.
  it("leads to the owner's page that was asked for, if it is ours and was asked for lately", async () => {
    const email = "asked-page@example.com";
    await service.adminJson("account", "add", email, "--plan", "licensed");
    for (const [path, to = path] of [
      ["/home/billing"],
      ["/home/access/developers"],
      ["/home"],
      ["/docs", "/home"],
    ] as const) {
      const browser = new Browser(service);
      await browser.open(path);
      expect(await browser.redeem(email), path).toBe(to);
      expect(browser.valueOf("office-back")).toBe("");
    }
    const browser = await Browser.signIn(service, email);
    await service.adminJson("session", "end", email, "--all");
    const pressed = await browser.submit("/home/time-zone", { zone: "Asia/Tokyo" });
    expect(pressed.headers.location).toBe("/sign-in?problem=ended");
    expect(await browser.redeem(email), "after a form for which the session had ended").toBe("/home/account");
    const asked = await service.ask("/home/account");
    expect([asked.status, asked.headers.location]).toEqual([303, "/sign-in"]);
    expect(cookiesOf(asked)).toEqual({
      "office-back": "/home/account; Path=/; Max-Age=600; HttpOnly; SameSite=Lax",
    });
    for (const planted of ["https://evil.example", "//evil.example", "/home/account#leave", "/sign-in/out"]) {
      const browser = new Browser(service);
      browser.cookies.set("office-back", planted);
      expect(await browser.redeem(email), planted).toBe("/home");
    }
  });

  it("takes the code of an earlier mail of the same browser too", async () => {
    const email = "asks-again@example.com";
    await service.adminJson("account", "add", email);
    const browser = new Browser(service);
    const codes = [];
    for (let asked = 0; asked < 4; asked++) {
      const earlier = await codesTo(service.dataDir, email);
      await browser.submit("/sign-in/send", { email });
      codes.push(await newCodeTo(service.dataDir, email, earlier));
      if (asked === 0) await stage.query(`UPDATE sign_in_codes SET asker_hash = NULL`);
    }
    expect(browser.valueOf("office-code").split(".")).toHaveLength(3);
    const redeem = async (code = "") => (await browser.submit("/sign-in/redeem", { code })).headers.location;
    expect(await redeem(codes[0]), "the fourth last").toBe("/sign-in/code?problem=wrong&left=4");
    expect(await redeem(codes[1])).toBe("/home");
  });

  it.each(["/sign-in/send", "/invitation/accept", "/connect/device"])(
    "%s does nothing for a browser without cookies, and says that they are needed",
    async (path) => {
      const client = newClient();
      const email = `${path.slice(1).replace("/", "-")}@example.com`;
      const post = (to: string, cookie = "") =>
        service.ask(to, {
          ...client,
          method: "POST",
          headers: { origin: service.url, ...(cookie && { cookie }) },
          body: `email=${email}&token=x&user_code=BBBBBBBB`,
        });
      const first = await post(path);
      expect([first.status, first.headers.location, first.text]).toEqual([307, `${path}?probed`, ""]);
      expect(first.headers["cache-control"]).toBe("no-store");
      expect(cookiesOf(first)).toEqual({ "office-probe": "1; Path=/; Max-Age=600; HttpOnly; SameSite=Lax" });
      for (const cookie of ["", "office-probe=1; office-probe=1"]) {
        const again = await post(`${path}?probed`, cookie);
        expect(again.status).toBe(303);
        expect(again.headers.location).toMatch(/[?&]problem=cookies$/);
        const page = await service.ask(again.headers.location ?? "", client);
        if (path !== "/invitation/accept") expect(page.text).toContain("Your browser blocks our cookies, or");
      }
      expect(await mailsTo(service.dataDir, email)).toEqual([]);
      expect(await stage.query(`SELECT email FROM sign_in_codes WHERE email = '${email}'`)).toEqual([]);
      const kept = await post(`${path}?probed`, "office-probe=1");
      expect(kept.headers.location).not.toContain("problem=cookies");
    },
  );

  it("tells why a code does not work any more, on its page and when it is typed", async () => {
    await service.adminJson("account", "add", "over@example.com");
    const { browser: expired } = await askForCode("over@example.com");
    const code = await codeTo(service.dataDir, "over@example.com");
    await stage.query("UPDATE sign_in_codes SET expires_at_ms = 0 WHERE email = 'over@example.com'");
    const { browser: guessed } = await askForCode("nobody@example.com");
    await stage.query("UPDATE sign_in_codes SET tries = 5 WHERE email = 'nobody@example.com'");
    const causes: [browser: string, problem: string, words: string][] = [
      [expired, "expired", "That code has expired. Request a new one."],
      [guessed, "tries", "That was the fifth wrong try; this code no longer works. Request a new one."],
      ["redeemed", "used", "That code was already used. Request a new one."],
      ["", "unasked", "This browser has not requested a code yet. Request one here."],
    ];
    for (const [browser, problem, words] of causes) {
      const to = `/sign-in?problem=${problem}`;
      expect((await redeem(browser, code)).headers.location).toBe(to);
      const page = await service.ask("/sign-in/code", { headers: { cookie: `office-code=${browser}` } });
      expect([page.status, page.headers.location]).toEqual([303, to]);
      expect((await service.ask(to)).text).toContain(words);
    }
  });

  it("leads someone who has signed in and goes back to the code home", async () => {
    await service.adminJson("account", "add", "back@example.com");
    const { session, client } = await signIn("back@example.com");
    for (const cookie of [`__session=${session}; office-client=${client}`, `office-client=${client}`]) {
      const headers = { cookie };
      const page = await service.ask("/sign-in/code", { headers });
      const led = await service.ask(String(page.headers.location), { headers });
      expect([led.status, led.headers.location]).toEqual([303, "/home"]);
      const typed = await service.submit("/sign-in/redeem", { code: "123456" }, { headers });
      expect(typed.headers.location).toBe(page.headers.location);
      expect((await service.ask("/sign-in?problem=tries", { headers })).text).toContain("fifth wrong try");
    }
  });

  it("refuses an invalid email, and changes nothing", async () => {
    const before = await stage.query("SELECT count(*) AS n FROM sign_in_codes");
    for (const email of ["", "ceo", "a@b@c", `${"a".repeat(250)}@example.com`]) {
      expect((await askForCode(email)).answer.headers.location).toBe("/sign-in?problem=email");
    }
    expect(await stage.query("SELECT count(*) AS n FROM sign_in_codes")).toEqual(before);
  });

  it("renews the session only while the browser's secret is valid", async () => {
    await service.adminJson("account", "add", "renew@example.com", "--plan", "licensed");
    const { client } = await signIn("renew@example.com");
    const cookie = `office-client=${client}`;

    const renewed = await service.submit("/sign-in/renew", {}, { headers: { cookie } });
    expect(renewed.status).toBe(204);
    expect(await entitlement({ cookie: `__session=${readValue(cookiesOf(renewed).__session)}` })).toBe(200);

    for (const sent of [cookie, `__session=x; ${cookie}`, `__session=x; __session=y; ${cookie}`]) {
      const opened = await service.ask("/home/access?ended=apps", { headers: { cookie: sent } });
      expect([opened.status, opened.text]).toEqual([
        200,
        expect.stringContaining("All apps are disconnected."),
      ]);
      expect(await entitlement({ cookie: `__session=${readValue(cookiesOf(opened).__session)}` })).toBe(200);
    }

    const endsAtMs = Date.now() + 20_000;
    await stage.query(`UPDATE local_sessions SET expires_at_ms = ${endsAtMs} WHERE client_hash IS NOT NULL`);
    const last = cookiesOf(await service.submit("/sign-in/renew", {}, { headers: { cookie } })).__session;
    const { exp } = decodeJwt(readValue(last));
    expect(exp, "no token outlives its session").toBe(Math.floor(endsAtMs / 1000));

    await stage.query(
      `UPDATE local_sessions SET expires_at_ms = ${Date.now()} WHERE client_hash IS NOT NULL`,
    );
    const over = await service.submit("/sign-in/renew", {}, { headers: { cookie } });
    expect([over.status, over.headers["set-cookie"]]).toEqual([401, undefined]);
    const gone = await service.ask("/home", { headers: { cookie } });
    expect([gone.status, gone.headers.location]).toEqual([303, "/sign-in?problem=ended"]);
    expect(readValue(cookiesOf(gone)["office-client"])).toBe("");
  });

  // bitwarden/server#446: nginx passes on what it has asked for itself.
  it("renews the session and takes forms behind a proxy that asks the browser for a password too", async () => {
    await service.adminJson("account", "add", "staging@example.com", "--plan", "licensed");
    const { session, client } = await signIn("staging@example.com");
    const ask = (authorization: string) => ({
      ...newClient(),
      headers: { authorization, cookie: `office-client=${client}` },
    });
    for (const sent of ["Basic c3RhZ2luZzpzZWNyZXQ=", "Negotiate YII=", 'Digest username="ceo"']) {
      const page = await service.ask("/home/account", ask(sent));
      expect([page.status, Object.keys(cookiesOf(page))], sent).toEqual([200, ["__session"]]);
      const [, account = ""] = /name="account" value="([^"]+)"/.exec(page.text) ?? [];
      const form = await service.submit("/home/introduction/stop", { account }, ask(sent));
      expect(form.status, sent).toBe(303);
      const program = await service.submit("/home/introduction/stop", { account }, ask(`Bearer ${session}`));
      expect(program.status).toBe(403);
    }
  });

  it("counts the bytes of a form, whatever Content-Length says", async () => {
    const { status } = await service.submit("/sign-in/send", { email: "a".repeat(5000) }, newClient());
    expect(status).toBe(413);
  });

  it("mails the owner when a browser signs in that has not done so before, but not at the first sign-in", async () => {
    const email = "browsers@example.com";
    const { id } = await service.adminJson<{ id: string }>("account", "add", email);
    const security = async () =>
      (await mailsTo(service.dataDir, email)).filter(
        ({ subject }) => subject === "A new browser signed in to your account",
      );
    const queued = async () => Number((await stage.query("SELECT count(*) AS n FROM sign_in_mails"))[0]?.n);
    const none = () => eventually(async () => expect(await queued()).toBe(0));
    const own = await Browser.signIn(service, email);
    await none();
    expect(await security()).toEqual([]);

    expect(await own.redeem(email)).toBe("/home/access#ways");
    await none();
    expect(await security()).toEqual([]);

    const other = await Browser.signIn(service, email);
    const secrets = [id, "token=", other.valueOf("office-client")];
    // Signing out at once does not take the mail back.
    await other.submit("/sign-in/out");
    await eventually(async () => expect(await security()).toHaveLength(1));
    const [mail] = await security();
    expect(mail?.text).toMatch(/^Browser: .+ on .+\nNetwork: 127\.\d+\.0\.0\/24\nWhen: .+ UTC$/m);
    expect(mail?.text).toContain(`${service.url}/home`);
    for (const secret of secrets) expect(`${mail?.text}${mail?.html}`).not.toContain(secret);
  });

  it("mails the owner about a new browser if the account is older than the audit", async () => {
    const email = "dormant@example.com";
    await service.adminJson("account", "add", email);
    await stage.query(`UPDATE accounts SET created_at_ms = 0 WHERE email = '${email}'`);
    await Browser.signIn(service, email);
    await mailTo(service.dataDir, email, /^A new browser signed in to your account$/);
  });
});

it("accepts behind a proxy thirty forms in ten minutes from one address, whatever its headers", async () => {
  const APP_URL = "https://office.example.com";
  const service = await Service.start({ APP_URL, SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" });
  const from = (first: string) => ({ headers: { "x-forwarded-for": `${first}, 10.9.9.9` } });
  for (let sent = 0; sent < 30; sent++) {
    const { headers } = await service.submit("/sign-in/send", { email: "" }, from(`1.2.3.${sent}`));
    expect(headers.location).toBe("/sign-in?problem=email");
  }
  const refused = await service.submit("/sign-in/send", { email: "" }, from("9.9.9.9"));
  expect(refused.headers.location).toMatch(/^\/sign-in\?problem=too-many&of=client&wait=[1-9]\d{0,2}$/);
  const page = await service.ask(refused.headers.location ?? "");
  expect(page.text).toMatch(
    /Too many attempts from your browser or address\. Wait \d+ (minutes|seconds), then/,
  );
  const elsewhere = await service.submit("/waitlist/join", { email: "" }, from("9.9.9.9"));
  expect(elsewhere.headers.location).toMatch(/^\/waitlist\?problem=too-many&of=client&wait=\d+$/);
  await service.stop();
});

it("without sign-in explains this on its pages, and accepts no form", async () => {
  const service = await unconfigured();
  for (const [path, words] of [
    ["/sign-in", "Sign-in is not set up"],
    ["/waitlist", "The waitlist is closed"],
    ["/home", "Sign-in is not set up"],
    ["/invitation?token=x", "This invitation does not work"],
  ] as const) {
    const page = await service.ask(path);
    expect(page.status, path).toBe(200);
    expect(page.text).toContain(words);
  }
  for (const path of [
    ...["/sign-in/send", "/sign-in/redeem", "/sign-in/renew", "/sign-in/out"],
    ...["/waitlist/join", "/invitation/accept", "/home/token", "/home/checkout"],
  ])
    expect((await service.submit(path, { email: "a@example.com" })).status, path).toBe(404);
  expect((await service.ask("/sign-in/renew")).status).toBe(404);
});
