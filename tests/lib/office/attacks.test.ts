import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { officePages } from "@/lib/office/routes";
import { Authenticator } from "@/tests/support/authenticator";
import { startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { hiddenField, OfficeBrowser, seenBy, startWithOffice } from "@/tests/support/office-browser";
import { signInWith } from "@/tests/support/passkeys";

const email = "ceo@example.com";

const wordsOf = (text: string) => text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

const ceremonies = ["enrol", "enter", "proof"].flatMap((act) => [`/${act}/options`, `/${act}/passkey`]);
const officeActs = officePages.flatMap(({ acts = [] }) => acts);
const acts = officeActs.map(({ path }) => path as string);
const pages = officePages.map(({ path }) => path as string);

describe.each(engines)("an attack on the office on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startWithOffice({ ...stage.environment, SIGN_IN: "local" });
  afterAll(() => service.stop());
  await service.adminJson("account", "add", email, "--plan", "trial", "--trial-days", "3");
  const ann = await OfficeBrowser.enrol(service, "ann");
  const bob = await OfficeBrowser.enrol(service, "bob");

  const show = () => service.adminJson("account", "show", email);
  const newLink = async (name: string) => {
    const { url } = await service.adminJson<{ url: string }>("operator", "add", name);
    return new URL(url).hash.slice(1);
  };
  /** Signs in again where a test took a session away. */
  const signedIn = async (browser: OfficeBrowser) => {
    if ((await browser.open("/today")).status !== 200) await browser.signIn();
    return browser;
  };
  const provedAnn = async () => (await signedIn(ann)).prove();

  describe("from another site", () => {
    it.each([...acts, ...ceremonies, "/leave"])(
      "POST %s without the office's Origin is 403",
      async (path) => {
        const before = await show();
        const foreign = ["https://evil.example", "null", service.url, `${ann.url}.evil.example`, ""];
        for (const origin of [...foreign, undefined]) {
          const { status, text } = await ann.submit(path, { email, plan: "hobby" }, { origin });
          expect(status).toBe(403);
          expect(text).toContain(`Open this form at ${ann.url} instead.`);
        }
        expect(await show()).toEqual(before);
        expect((await ann.open("/today")).status).toBe(200);
      },
    );

    it("a link says of no act that it was done but by a name of ours", async () => {
      for (const done of ["constructor", "toString", "__proto__", "nothing"]) {
        const { status, text } = await ann.open(`/account?email=${encodeURIComponent(email)}&done=${done}`);
        expect(status).toBe(200);
        expect(text).not.toContain('role="status"');
      }
    });

    it("GET never acts", async () => {
      for (const path of acts) expect((await ann.open(`${path}?email=${email}&plan=hobby`)).status).toBe(405);
    });

    it.each(["evil.example", "localhost", `127.0.0.1:9`, `evil.example:1`])(
      "by the name %s it is a 421 (DNS rebinding)",
      async (host) => {
        for (const path of ["/today", "/enter"]) expect((await ann.open(path, { host })).status).toBe(421);
      },
    );
  });

  describe("across the two ports", () => {
    it.each([...pages, ...acts, ...ceremonies, "/enter", "/enrol", "/leave", "/office.css", "/office.js"])(
      "%s is a plain 404 on the public port",
      async (path) => {
        const { status, text } = await service.ask(path, { headers: { cookie: ann.cookie } });
        expect(status).toBe(404);
        expect(text).not.toContain("operator");
      },
    );

    it("an operator's cookie signs no one in on the public port", async () => {
      const headers = { cookie: `${ann.cookie}; __session=${ann.cookies.get("operator-session")}` };
      expect((await service.ask("/api/entitlement", { headers })).status).toBe(401);
    });

    it("an owner's cookies and tokens open nothing in the office", async () => {
      const owner = await Browser.signIn(service, email);
      const token = await service.token(email);
      for (const headers of [
        { cookie: owner.cookie },
        { cookie: `operator-session=${owner.valueOf("__session")}` },
        { authorization: `Bearer ${token}` },
        { cookie: `operator-session=${token}` },
      ]) {
        expect((await new OfficeBrowser(service).open("/today", headers as never)).status).toBe(303);
      }
    });

    it("an operator's passkey is not an owner's, and is not called unknown: the browser would delete it", async () => {
      const lies = { origin: service.url };
      expect((await signInWith(new Browser(service), ann.authenticator, lies)).status).toBe(400);
    });

    it("an owner's passkey is not an operator's", async () => {
      const stranger = new OfficeBrowser(service);
      const { status, text } = await stranger.signIn();
      expect(status).toBe(400);
      expect(JSON.parse(text).error.message).toBe("This passkey was not accepted.");
      expect(stranger.cookies.has("operator-session")).toBe(false);
    });
  });

  describe("on the link", () => {
    it("works once, however many use it at the same time", async () => {
      const link = await newLink("dora");
      const browsers = Array.from({ length: 8 }, () => new OfficeBrowser(service));
      const answers = await Promise.all(browsers.map((browser) => browser.openLink(link)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const again = await new OfficeBrowser(service).openLink(link);
      expect(again.status).toBe(403);
      expect(JSON.parse(again.text).error.message).toMatch(/^This link was used/);
      const [{ count } = {}] = await stage.query(
        "SELECT count(*) AS count FROM operator_passkeys WHERE operator_id = (SELECT id FROM operators WHERE name = 'dora')",
      );
      expect(Number(count)).toBe(1);
    });

    it("adds one passkey for a challenge, whatever link it is handed in with", async () => {
      const browser = new OfficeBrowser(service);
      const askFor = async (link: string) =>
        JSON.parse((await browser.submit("/enrol/options", { link })).text);
      const options = await askFor(await newLink("ivo"));
      const another = new Authenticator(browser.url).create(options);
      expect((await browser.post("/enrol/passkey", browser.authenticator.create(options))).status).toBe(200);
      await askFor(await newLink("ivo"));
      expect((await browser.post("/enrol/passkey", another)).status).toBe(400);
    });

    it("adds no passkey that another operator has", async () => {
      const thief = new OfficeBrowser(service, ann.authenticator);
      const refused = await thief.openLink(await newLink("hana"));
      expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, "invalid_request"]);
      expect((await ann.signIn()).status, "whose it stays").toBe(200);
    });

    it("is replaced by a newer one, and expires after 15 minutes", async () => {
      const replaced = await newLink("emil");
      const link = await newLink("emil");
      expect((await new OfficeBrowser(service).openLink(replaced)).status).toBe(403);
      const [{ link_until_ms } = {}] = await stage.query(
        "SELECT link_until_ms FROM operators WHERE name = 'emil'",
      );
      expect(Math.abs(Number(link_until_ms) - Date.now() - 15 * 60_000)).toBeLessThan(60_000);
      await stage.query(`UPDATE operators SET link_until_ms = ${Date.now() - 1} WHERE name = 'emil'`);
      expect((await new OfficeBrowser(service).openLink(link)).status).toBe(403);
    });

    it("that is guessed, empty or another operator's adds nothing", async () => {
      for (const link of ["", "x", "A".repeat(43), "' OR 1=1 --"]) {
        expect((await new OfficeBrowser(service).openLink(link)).status).toBe(403);
      }
      // The options of one link, finished with the cookie of another.
      const [one, other] = [new OfficeBrowser(service), new OfficeBrowser(service)];
      const options = await one.submit("/enrol/options", { link: await newLink("fred") });
      await other.submit("/enrol/options", { link: await newLink("gina") });
      one.cookies.set("operator-link", other.cookies.get("operator-link") ?? "");
      const response = one.authenticator.create(JSON.parse(options.text));
      expect((await one.post("/enrol/passkey", response)).status).toBe(400);
    });
  });

  describe("on the proof", () => {
    const fiveMinutesMs = 300_000;
    const makeStale = async (byMs = fiveMinutesMs) => {
      await signedIn(ann);
      await stage.query(`UPDATE operator_sessions SET proved_at_ms = proved_at_ms - ${byMs}`);
    };

    /** What every form of the office takes. */
    const filledIn = {
      email,
      plan: "hobby",
      reason: 'a "typed" <reason>',
      amount: "1",
      once: randomUUID(),
      to: "new@example.com",
      emails: "one@example.com",
      act: "credits",
      all: "all",
      name: "made",
      title: "Made",
      credits: "0",
      message: "Soon",
      kind: "promo",
      backend: "worker",
      may: "read",
      webhook: "wh_one",
      url: "https://systems.example.com/events",
    };

    it("is asked for by all but what gives nothing, takes nothing away and speaks to no one", () => {
      const others = officeActs.filter(({ needsProof }) => !needsProof).map(({ path }) => path);
      expect(others.sort()).toEqual([
        "/account/keep",
        "/announcement/preview",
        "/mails/retry",
        "/webhooks/resend",
        "/webhooks/test",
      ]);
    });

    it.each(officeActs.filter(({ needsProof }) => needsProof))(
      "$path asks again after five minutes, changes nothing, and keeps what was typed",
      async ({ path, name }) => {
        await makeStale();
        const before = await show();
        const { status, text } = await ann.submit(path, filledIn);
        expect(status, text).toBe(403);
        expect(text).toContain("Nothing was changed yet.");
        expect(text).toMatch(/<a href="\/[^"]+">Cancel</);
        expect(text).toContain(`<h1><bdi>${name.charAt(0).toUpperCase()}${name.slice(1)}?</bdi></h1>`);
        expect(text).toContain("<dt>For</dt>");
        expect(text).toMatch(new RegExp(`<form (?=[^>]*id="again")(?=[^>]*action="${path}")[^>]*>`));
        expect(hiddenField({ text }, "reason")).toBe('a "typed" <reason>');
        expect(await show()).toEqual(before);
      },
    );

    it("is asked for with what is there now, what will be, to whom, and whether that can be undone", async () => {
      await makeStale();
      const read = async (path: string, fields: object) =>
        wordsOf((await ann.submit(path, { ...filledIn, reason: "For Monday", ...fields })).text);
      const { credits } = await show();
      expect(await read("/account/credits", { amount: "2.5" })).toContain(
        `Change the balance? For ${email} Credits ${credits} → ${Number(credits) + 2.5} Reason they read For Monday What happens The owner sees it with its reason at once. To undo it To take it back, enter the opposite amount.`,
      );
      const given = await read("/account/terms", { plan: "licensed", seen: "{}" });
      expect(given).toMatch(/Plan \S.* → Licence, for good /);
      expect(given).toContain(
        "What Stripe charges does not change. To undo it Another change takes it back.",
      );
      expect(await read("/account/delete", {})).toMatch(/ → gone What .* To undo it It cannot be undone\./);
      expect(await read("/announcement/publish", {})).toContain(
        "For Everyone, on the public pages Text none → Soon",
      );
      expect(await read("/plans/retire", {})).toMatch(
        /For Hobby: \d+ accounts? ha(?:s|ve) it Offered to anyone/,
      );
    });

    it("is not asked for what would be refused", async () => {
      await makeStale();
      const { status, text } = await ann.submit("/account/credits", { ...filledIn, amount: "many" });
      expect([status, text.includes("The amount must be a number")]).toEqual([400, true]);
      expect(text).not.toContain("Confirm with passkey");
    });

    it("keeps every box that was ticked", async () => {
      await makeStale();
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const body = "plan=hobby&emails=one@example.com&emails=two@example.com&emails=";
      const { text } = await ann.send("POST", "/waiting/invite", body, type);
      const kept = [...text.matchAll(/name="emails" value="([^"]*)"/g)].map(([, value]) => value);
      expect(kept).toEqual(["one@example.com", "two@example.com", ""]);
    });

    it("keeps a list that was pasted: every line of it is invited afterwards", async () => {
      await makeStale();
      const pasted = ["pasted-1@example.com", "pasted-2@example.com", "pasted-3@example.com"];
      const asked = await ann.submit("/waiting/invite", { emails: pasted.join("\r\n"), plan: "hobby" });
      expect(asked.status).toBe(403);
      expect((await ann.prove()).status).toBe(200);
      // A browser reads line breaks of a page as LF, and sends those of a field as CRLF.
      const kept = hiddenField({ text: asked.text.replace(/\r\n?/g, "\n") }, "emails");
      const emails = kept.replaceAll("\n", "\r\n");
      const { status, headers, text } = await ann.submit("/waiting/invite", { emails, plan: "hobby" });
      expect([status, headers.location], text).toEqual([303, "/waiting?done=invite"]);
      const invited = await stage.query(
        "SELECT email FROM invitations WHERE email LIKE 'pasted-%' ORDER BY email",
      );
      expect(invited.map(({ email }) => email)).toEqual(pasted);
    });

    it("is good for the session in which it was given, and for five minutes", async () => {
      await signedIn(bob);
      await makeStale();
      const credit = async () => {
        const once = hiddenField(await ann.open(`/account?email=${email}`), "once");
        return ann.submit("/account/credits", { email, once, amount: "1", reason: "proof" });
      };
      expect((await bob.prove()).status).toBe(200);
      expect((await credit()).status).toBe(403);
      expect((await ann.prove()).status).toBe(200);
      expect((await credit()).status).toBe(303);
      await makeStale();
      expect((await credit()).status).toBe(403);
      // Given by a clock that was ahead.
      await makeStale(-2 * fiveMinutesMs - 60_000);
      expect((await credit()).status).toBe(403);
    });

    it("replaces the cookie: a copy of it is worth nothing", async () => {
      const thief = new OfficeBrowser(service, (await signedIn(ann)).authenticator);
      for (const [name, value] of ann.cookies) thief.cookies.set(name, value);
      expect((await ann.prove()).status).toBe(200);
      expect((await thief.submit("/account/terms", { email, plan: "hobby" })).status).toBe(401);
      expect((await thief.post("/proof/options")).status).toBe(401);
      expect((await thief.open("/today")).headers.location).toMatch(/^\/enter/);
      expect((await ann.open("/today")).status).toBe(200);
    });

    it("by another operator's passkey is refused, in whichever session it was asked for", async () => {
      await makeStale();
      const asked = JSON.parse((await ann.post("/proof/options")).text);
      expect((await ann.post("/proof/passkey", bob.authenticator.get(asked))).status).toBe(400);
      const ofBob = JSON.parse((await bob.post("/proof/options")).text);
      expect((await ann.post("/proof/passkey", ann.authenticator.get(ofBob))).status).toBe(400);
      const refused = await ann.submit("/account/credits", filledIn);
      expect(refused.status).toBe(403);
    });

    it("of a sign-in is none, and works once", async () => {
      await makeStale();
      const toEnter = JSON.parse((await ann.post("/enter/options")).text);
      expect((await ann.post("/proof/passkey", ann.authenticator.get(toEnter))).status).toBe(400);
      const response = ann.authenticator.get(JSON.parse((await ann.post("/proof/options")).text));
      expect((await ann.post("/proof/passkey", response)).status).toBe(200);
      expect((await ann.post("/proof/passkey", response)).status).toBe(400);
    });
  });

  describe("on the session", () => {
    it.each([
      ["after 8 hours", "expires_at_ms = 1"],
      ["after an hour without use", "last_used_at_ms = last_used_at_ms - 3600000"],
    ])("ends %s, and what was typed is kept for the next one", async (_, change) => {
      await signedIn(ann);
      await stage.query(`UPDATE operator_sessions SET ${change}`);
      const before = await show();
      const { status, text } = await ann.submit("/account/credits", { email, amount: "5", reason: "typed" });
      expect(status).toBe(401);
      expect(text).toContain("Your session has ended");
      expect(hiddenField({ text }, "amount")).toBe("5");
      expect(await show()).toEqual(before);
      expect((await ann.signIn()).status).toBe(200);
    });

    it("goes on for as long as it is used", async () => {
      await signedIn(ann);
      for (let n = 0; n < 3; n++) {
        await stage.query("UPDATE operator_sessions SET last_used_at_ms = last_used_at_ms - 2400000");
        expect((await ann.open("/today")).status, "40 minutes later").toBe(200);
      }
    });

    it("of a removed operator ends at once, and the passkey with it", async () => {
      const hugo = await OfficeBrowser.enrol(service, "hugo");
      expect((await hugo.open("/today")).status).toBe(200);
      await service.adminJson("operator", "remove", "hugo");
      expect((await hugo.open("/today")).status).toBe(303);
      expect((await hugo.signIn()).status).toBe(400);
      expect((await hugo.submit("/account/credits", { email, amount: "5", reason: "x" })).status).toBe(401);
    });

    it("ends by 'operator end' and by signing out, and its cookie is good for nothing then", async () => {
      const ivy = await OfficeBrowser.enrol(service, "ivy");
      await service.adminJson("operator", "end", "ivy");
      expect((await ivy.open("/today")).status).toBe(303);
      await ivy.signIn();
      const cookie = ivy.cookie;
      expect((await ivy.submit("/leave", {})).headers.location).toBe("/enter");
      expect((await ivy.open("/today", { cookie })).status).toBe(303);
    });

    it("is replaced by the next one of the same browser", async () => {
      await signedIn(ann);
      const cookie = ann.cookie;
      await ann.signIn();
      expect((await ann.open("/today", { cookie })).status).toBe(303);
      expect((await ann.open("/today")).status).toBe(200);
    });

    it("leads nowhere else after sign-in", async () => {
      for (const to of ["//evil.example", "/\\evil.example", "/today/../..", "javascript:1", "/leave"]) {
        const { text } = await ann.open(`/enter?to=${encodeURIComponent(to)}`);
        expect(text).toContain('data-to="/today"');
      }
      const page = await ann.open("/enter?to=/audit%3Fwho%3D%2522%253E%253Cx%253E");
      expect(page.text).toContain('data-to="/audit?who=%22%3E%3Cx%3E"');
    });
  });

  describe("on the fields", () => {
    it("changes nothing that the form does not have", async () => {
      await provedAnn();
      const before = await show();
      const seen = seenBy(await ann.open(`/account?email=${email}`), "/account/terms");
      const more = { id: "acc_x", subject: "user_x", credits: "9", credit_thousandths: "9" };
      const { status } = await ann.submit("/account/terms", { email, seen, plan: "hobby", ...more });
      expect(status).toBe(303);
      expect(await show()).toEqual({ ...before, status: "hobby", plan: "hobby", trialEndsAt: null });
    });

    it("ends no session of another account", async () => {
      await service.adminJson("account", "add", "other@example.com", "--plan", "hobby");
      await service.token("other@example.com");
      const [{ id } = {}] = await service.adminJson<{ id: string }[]>("session", "list", "other@example.com");
      await provedAnn();
      await ann.submit("/account/sessions/end", { email, session: String(id) });
      expect(await service.adminJson("session", "list", "other@example.com")).toHaveLength(1);
    });

    it("gives credits once, however often the form is sent", async () => {
      await provedAnn();
      const once = hiddenField(await ann.open(`/account?email=${email}`), "once");
      const before = (await show()) as { credits: number };
      const send = () => ann.submit("/account/credits", { email, once, amount: "5", reason: "twice" });
      const statuses = (await Promise.all([send(), send(), send()])).map(({ status }) => status).sort();
      expect(statuses).toEqual([303, 409, 409]);
      expect((await send()).status).toBe(409);
      expect(await show()).toMatchObject({ credits: before.credits + 5 });
    });

    it("deletes no account that has the email since the page was opened", async () => {
      await service.adminJson("account", "add", "moves@example.com", "--plan", "hobby");
      await provedAnn();
      const seen = seenBy(await ann.open("/account?email=moves@example.com"), "/account/delete");
      await service.adminJson("account", "delete", "moves@example.com");
      await service.adminJson("account", "add", "moves@example.com", "--plan", "licensed");
      const { status } = await ann.submit("/account/delete", { email: "moves@example.com", seen });
      expect(status).toBe(409);
      expect((await service.admin("account", "show", "moves@example.com")).code).toBe(0);
    });

    it("is filled in by no link", async () => {
      await signedIn(ann);
      const query = "&plan=licensed&assistant_limit=99&amount=99&reason=evil";
      const { text } = await ann.open(`/account?email=${email}${query}`);
      for (const value of ['value="99"', 'value="evil"']) expect(text).not.toContain(value);
      expect((await ann.open("/announcement?message=evil")).text).not.toContain("evil");
    });

    it("is refused beyond 64 KiB", async () => {
      const { status } = await ann.submit("/waiting/invite", { emails: "x".repeat(70_000) });
      expect(status).toBe(413);
    });
  });

  describe("stored in what strangers choose", () => {
    const payloads = [
      "<script>alert(1)</script>",
      `'"><img src=x onerror=alert(1)>`,
      "</textarea></title></td></table><base href=https://evil.example>",
      `" autofocus onfocus="alert(1)`,
      "<!-- comment",
      "&lt;script&gt;",
      "\u202eevil\u202czero\u200bwidth\u2066bidi\u2069\u0000end",
    ];

    const elements =
      "html head meta title link body a header nav svg path main h1 h2 h3 p b bdi span small time div dl dt dd ul li form fieldset legend datalist input label select option button table caption thead tbody tr th td details summary pre code footer section aside rect circle textarea script strong br !doctype";

    /** Nothing of a payload is markup: neither an element of its own, nor an attribute, nor something invisible. */
    function expectPlain(text: string, payload: string): void {
      if (/[<"']/.test(payload)) expect(text).not.toContain(payload);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
      const withoutValues = text.replaceAll(/"[^"]*"/g, '""');
      const tags = withoutValues.match(/<[^>]*>/g) ?? [];
      for (const tag of tags) {
        const [name = "", ...attributes] = tag.replace(/^<\/?|\/?>$/g, "").split(/\s+/);
        expect(elements.split(" ")).toContain(name);
        expect(attributes.filter((attribute) => /^on|^style|^formaction=/.test(attribute))).toEqual([]);
      }
      expect(withoutValues.match(/<script/g)).toHaveLength(1);
    }

    /** Every column whose text a stranger, an app, a provider or another operator chooses. */
    const fields: ((text: string) => string)[] = [
      (text) => `UPDATE local_sessions SET name = ${text}`,
      (text) => `UPDATE local_sessions SET begun_in = ${text}`,
      (text) => `UPDATE local_sessions SET network = ${text}`,
      (text) => `UPDATE credit_entries SET reason = ${text}`,
      (text) => `UPDATE onboarding_emails SET failure = ${text}, state = 'failed'`,
      (text) => `UPDATE sign_in_mail_attempts SET failure = ${text}`,
      (text) => `UPDATE sign_in_mail_attempts SET kind = ${text}`,
      (text) => `UPDATE waitlist SET email = ${text}`,
      (text) => `UPDATE passkeys SET name = ${text}`,
      (text) => `UPDATE site_banner SET message = ${text}`,
      (text) => `UPDATE audit_entries SET who = ${text} WHERE what = 'markup'`,
      (text) => `UPDATE audit_entries SET whom = ${text} WHERE what = 'markup'`,
      (text) => `UPDATE accounts SET plan = ${text} WHERE email = 'markup@example.com'`,
      (text) => `UPDATE plans SET title = ${text}, description = ${text} WHERE name = 'licensed'`,
      (text) => `UPDATE accounts SET email = ${text} WHERE email LIKE '%@%' AND id = 'acc_markup'`,
    ];

    const shown = [...pages, `/account?email=${email}`, "/account?email=markup@example.com"].filter(
      (path) => path !== "/account",
    );

    beforeAll(async () => {
      ann.from = "127.60.0.1";
      const [{ id } = {}] = await stage.query(`SELECT id FROM accounts WHERE email = '${email}'`);
      await service.token(email);
      const now = Date.now();
      for (const sql of [
        `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms) VALUES ('e1', '${id}', 1, 'x', 1)`,
        `INSERT INTO sign_in_mail_attempts (id, email, kind, at_ms, state, failure) VALUES ('m1', '${email}', 'code', ${now}, 'failed', 'x')`,
        "INSERT INTO waitlist (email, joined_at_ms) VALUES ('waits@example.com', 1)",
        `INSERT INTO passkeys (id, account_id, credential_id, rp_id, public_key, counter, name, added_at_ms) VALUES ('p1', '${id}', 'c1', 'localhost', 'k', 0, 'x', 1)`,
        "INSERT INTO site_banner (id, kind, message) VALUES (1, 'promo', 'x')",
        `INSERT INTO audit_entries (id, at_ms, who, what, whom, before, after) VALUES ('a1', ${now}, 'x', 'markup', 'x', NULL, '{"reason":"x"}')`,
        "INSERT INTO accounts (id, email, plan, created_at_ms, credit_thousandths) VALUES ('acc_markup', 'markup@example.com', 'hobby', 1, 0)",
      ]) {
        await stage.query(sql);
      }
    });

    const quote = (text: string) =>
      stage.environment.DATABASE_URL
        ? `U&'${text.replaceAll("\u0000", "").replaceAll("'", "''").replaceAll("\\", "\\\\")}'`
        : `'${text.replaceAll("\u0000", "").replaceAll("'", "''")}'`;

    it("they never become markup, and hide nothing, in any field of any page", async () => {
      await signedIn(ann);
      for (const toStatement of fields) await stage.query(toStatement(quote(payloads.join(" "))));
      for (const path of shown) {
        const { status, text } = await ann.open(path);
        expect(status, path).toBe(200);
        for (const payload of payloads) expectPlain(text, payload);
      }
    });

    it("typed values come back as text in a refused form", async () => {
      await provedAnn();
      const typed = payloads.slice(0, -1).join(" ");
      const { status, text } = await ann.submit("/account/credits", { email, amount: typed, reason: typed });
      expect(status).toBe(400);
      for (const payload of payloads.slice(0, -1)) expectPlain(text, payload);
    });
  });

  it("does not read as signed out while the store is away, and a form says that its outcome is not known", async () => {
    await signedIn(ann);
    const once = hiddenField(await ann.open(`/account?email=${email}`), "once");
    stage.freeze();
    const sent = await ann.submit("/account/credits", { email, once, amount: "1", reason: "away" });
    const page = stage.freezeStopsReads ? await ann.open("/audit") : { status: 503 };
    stage.thaw();
    expect(sent.status).toBe(503);
    expect(sent.text).toContain("If you have sent a form, look first whether it was carried out.");
    expect(page.status).toBe(503);
    expect((await ann.open("/audit")).status).toBe(200);
  });

  it("by a flood is refused beyond 1,200 a minute, and the public port answers meanwhile", async () => {
    const flood = new OfficeBrowser(service);
    flood.from = "127.60.0.2";
    const seen = new Map<number, number>();
    for (let round = 0; round < 70; round++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => flood.open("/enter")));
      for (const { status } of answers) seen.set(status, (seen.get(status) ?? 0) + 1);
    }
    expect([...seen.keys()].sort()).toEqual([200, 429]);
    expect(seen.get(200)).toBeLessThanOrEqual(1200);
    const refused = await flood.open("/today", { "x-forwarded-for": "203.0.113.9" });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await service.ask("/api/health")).status).toBe(200);
  });
});
