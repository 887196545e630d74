import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deleteAccountAct, moveAccountAct } from "@/lib/admin/account";
import { type Effect, effectInWords } from "@/lib/admin/act";
import { dayMs } from "@/lib/config/durations";
import { officePages } from "@/lib/office/routes";
import { version } from "@/package.json";
import { startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { hiddenField, OfficeBrowser, seenBy, startWithOffice } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";
import { openShop } from "@/tests/support/shop";

const email = "ceo@example.com";
const accountPage = `/account?email=${encodeURIComponent(email)}`;

const effectOf = ({ effect }: { effect?: Effect }) => effectInWords(effect ?? expect.fail("no effect"));

describe.each(engines)("the office on $name", async (engine) => {
  const stage = await startStage(engine);
  const service = await startWithOffice({ ...stage.environment, SIGN_IN: "local" });
  afterAll(() => service.stop());
  await service.adminJson("account", "add", email, "--plan", "trial", "--trial-days", "3");
  const ann = await OfficeBrowser.enrol(service, "ann");

  const show = () => service.adminJson("account", "show", email);
  const newestChange = async () => (await service.adminJson<object[]>("audit", "list", "--limit", "1"))[0];
  const seenIn = async (action: string) => seenBy(await ann.open(accountPage), action);

  describe("a page", () => {
    const paths = [...officePages.map(({ path }) => path).filter((path) => path !== "/account"), accountPage];

    it.each(paths)("GET %s is 200 with the operator's name, and is never stored", async (path) => {
      const { status, headers, text } = await ann.open(path);
      expect(status, text).toBe(200);
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store, no-transform",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
      });
      expect(headers["content-security-policy"]).toMatch(
        /^default-src 'none'; style-src 'self'; .*frame-ancestors 'none'; .*script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      expect(text).toContain("Signed in as <b>ann</b>");
      expect(text).toContain(`This is release ${version}.`);
    });

    it.each(paths)("GET %s without a session leads to sign-in and back", async (path) => {
      const { status, headers } = await new OfficeBrowser(service).open(path);
      expect(status).toBe(303);
      expect(headers.location).toBe(`/enter?to=${encodeURIComponent(path)}`);
      const { text } = await new OfficeBrowser(service).open(headers.location ?? "");
      expect(text).toContain(`data-to="${path.replace("&", "&amp;")}"`);
      expect(text, "without scripts").toContain("Passkeys need JavaScript.");
    });

    it("an unknown address is a 404 page, and another method a 405 with Allow", async () => {
      expect(await ann.open("/api/health")).toMatchObject({ status: 404 });
      const refused = await ann.send("PUT", "/today", "");
      expect(refused.status).toBe(405);
      expect(refused.headers.allow).toBe("GET, HEAD");
    });
  });

  describe("Accounts", () => {
    beforeAll(async () => {
      const rows = Array.from({ length: 60 }, (_, at) => {
        const name = `page-${String(at).padStart(2, "0")}@example.com`;
        return `('acc_${at}', '${name}', '${at % 2 ? "hobby" : "licensed"}', 1, 0)`;
      });
      await stage.query(
        `INSERT INTO accounts (id, email, plan, created_at_ms, credit_thousandths) VALUES ${rows.join(", ")}`,
      );
    });
    afterAll(async () => {
      await stage.query("DELETE FROM accounts WHERE email LIKE 'page-%'");
    });

    const emailsOn = (text: string) =>
      [...text.matchAll(/<bdi>([^<@]+)@example.com<\/bdi>/g)].map(([, name]) => name);

    it("are found by any part of the email, in any letter case, fifty a page, each page once", async () => {
      const first = await ann.open("/accounts?find=GE-");
      const [, next = ""] = /href="([^"]+)">Next/.exec(first.text) ?? [];
      const second = await ann.open(next.replaceAll("&amp;", "&"));
      expect(emailsOn(first.text)).toHaveLength(50);
      expect(emailsOn(second.text)).toEqual(Array.from({ length: 10 }, (_, at) => `page-${50 + at}`));
      expect(second.text).not.toContain(">Next");
      const clear = (words: string) => `<p class="quiet">${words} <a href="/accounts">Clear</a></p>`;
      expect(first.text.replaceAll("<!-- -->", "")).toContain(clear("More than 50 accounts."));
      expect(second.text.replaceAll("<!-- -->", "")).toContain(clear(""));
      expect((await ann.open("/accounts")).text).not.toContain("Clear");
      expect(emailsOn((await ann.open("/accounts?find=%40example.com&plan=trial")).text)).toEqual(["ceo"]);
      expect((await ann.open("/accounts?find=50%25")).text).toContain("No account matches.");
    });

    it("are found by an email as a mail program copies it, and the audit of it too", async () => {
      for (const typed of ["CEO Smith <CEO@example.com>", "mailto:ceo@example.com", "ｃｅｏ＠example.com"]) {
        expect(emailsOn((await ann.open(`/accounts?find=${encodeURIComponent(typed)}`)).text), typed).toEqual(
          ["ceo"],
        );
        const { text } = await ann.open(`/audit?whom=${encodeURIComponent(typed)}`);
        expect(text, typed).toContain("account add");
      }
    });

    it("say where to look for what Stripe has by an id that is not kept", async () => {
      const hint = "Stripe’s page of it names the customer: look for that id (cus_…) or the email.";
      for (const list of ["accounts", "customers"]) {
        for (const id of [
          "pi_3PaymentIntent",
          "F2B4C1D0-0001",
          "https://dashboard.stripe.com/acct_1/payments/pi_3PaymentIntent",
        ])
          expect((await ann.open(`/${list}?find=${id}`)).text, id).toContain(hint);
        expect((await ann.open(`/${list}?find=nobody`)).text).not.toContain(hint);
      }
    });

    it("are found by part of the email, plan and state together, by links that keep the rest", async () => {
      const { text } = await ann.open("/accounts?find=page-1&plan=hobby");
      expect(emailsOn(text)).toEqual(["page-11", "page-13", "page-15", "page-17", "page-19"]);
      expect(text).toContain('<input type="hidden" name="plan" value="hobby"/>');
      expect(text).toContain('<a href="/accounts?find=page-1&amp;plan=licensed">Licence</a>');
      expect(text).toMatch(/<a href="\/accounts\?find=page-1&amp;plan=hobby" aria-current="true">Hobby<\/a>/);
      expect(text).toContain('<a href="/accounts?find=page-1&amp;plan=hobby&amp;state=trial">Trial</a>');
      expect(emailsOn((await ann.open("/accounts?find=page-1&plan=hobby&state=licensed")).text)).toEqual([]);
    });

    it("are found by any part of your reference", async () => {
      await service.adminJson("account", "set", "page-07@example.com", "--reference", "Customer_7");
      await service.adminJson("account", "set", "page-08@example.com", "--reference", "customer-70");
      const { text } = await ann.open("/accounts?find=USTOMER");
      expect(emailsOn(text)).toEqual(["page-07", "page-08"]);
      expect(text).toContain("Customer_7");
      expect(emailsOn((await ann.open("/accounts?find=r_7")).text)).toEqual(["page-07"]);
      expect(emailsOn((await ann.open("/accounts?find=none")).text)).toEqual([]);
      const nameless = await service.admin("account", "set", "page-07@example.com", "--reference", "");
      expect(nameless.stderr).toContain("It must be one line of 1 to ");
    });

    it("are found by their id, Clerk’s and each of Stripe’s", async () => {
      await stage.query("UPDATE accounts SET subject = 'user_2abc' WHERE id = 'acc_31'");
      await stage.query(
        "INSERT INTO billing_customers (account_id, customer_id, created_at_ms, licence) VALUES ('acc_31', 'cus_31', 1, 'given')",
      );
      await stage.query(
        `INSERT INTO billing_subscriptions (id, account_id, status, period_ends_ms, licence_until_ms, version, created_at_ms, invoice_id)
         VALUES ('sub_31', 'acc_31', 'active', 1, 1, 1, 1, 'in_31')`,
      );
      await stage.query(
        `INSERT INTO billing_payments (id, account_id, bought, amount, returned, currency, paid_at_ms)
         VALUES ('ch_31', 'acc_31', 'sub_31', 4900, 0, 'eur', 1)`,
      );
      for (const id of ["acc_31", "user_2abc", "cus_31", "sub_31", "in_31", "ch_31"])
        expect(emailsOn((await ann.open(`/accounts?find=${id}`)).text), id).toEqual(["page-31"]);
      for (const page of [
        "acct_1Abc/test/customers/cus_31",
        "customers/cus_31?tab=a",
        "acct_1Abc/invoices/in_31",
      ])
        for (const list of ["accounts", "customers"]) {
          const address = encodeURIComponent(`https://dashboard.stripe.com/${page}`);
          expect(emailsOn((await ann.open(`/${list}?find=${address}`)).text), page).toEqual(["page-31"]);
        }
      for (const id of ["acc_3100", "cus_3", "sub_999"])
        expect(emailsOn((await ann.open(`/accounts?find=${id}`)).text), id).toEqual([]);
    });

    it("are a file of the same search, whose cells are no formulas", async () => {
      for (const [email, reference] of [
        ["=cmd@example.com", "=cmd|' /C calc'!A0"],
        ["+49@example.com", "-1+1"],
      ] as const) {
        await service.adminJson("account", "add", email);
        await service.adminJson("account", "set", email, `--reference=${reference}`);
      }
      const { status, headers, text } = await ann.open("/accounts.csv?find=customer");
      expect([status, headers["content-type"], headers["content-disposition"]]).toEqual([
        200,
        "text/csv; charset=utf-8",
        'attachment; filename="accounts.csv"',
      ]);
      const [heading, first, second, ...others] = text.split("\r\n");
      expect(heading).toBe(
        '\ufeff"id","email","reference","status","plan","due","trialEnds","assistants","credits","since"',
      );
      expect([first, second, others]).toEqual([
        expect.stringMatching(
          /^"acc_7","page-07@example.com","Customer_7","Hobby","hobby","",.*"1970-01-01 00:00:00"$/,
        ),
        expect.stringMatching(/^"acc_8","page-08@example.com","customer-70","Licensed"/),
        [""],
      ]);
      const { text: odd } = await ann.open("/accounts.csv?find=@example.com&state=trial");
      expect(odd).toContain(`"'=cmd@example.com","'=cmd|' /C calc'!A0"`);
      expect(odd).toContain(`"'+49@example.com","'-1+1"`);
      for (const email of ["=cmd@example.com", "+49@example.com"])
        await service.adminJson("account", "delete", email);
      const { text: page } = await ann.open("/accounts?find=page-1&plan=hobby");
      expect(page).toContain('href="/accounts.csv?find=page-1&amp;plan=hobby"');
    });

    const changeSeveral = async (names: string[], fields: Record<string, string>) => {
      const emails = names.map((name) => `${name}@example.com`);
      const body = new URLSearchParams([
        ...emails.map((email) => ["emails", email]),
        ...Object.entries(fields),
      ]);
      const type = { "content-type": "application/x-www-form-urlencoded" };
      return ann.send("POST", "/accounts/change", String(body), type);
    };
    const creditsOf = async (name: string) =>
      (await service.adminJson<{ credits: number }>("account", "show", `${name}@example.com`)).credits;

    it("are changed several at once, each once however often the form is sent, and those refused are named", async () => {
      const once = hiddenField(await ann.open("/accounts?find=page-2"), "once");
      const credits = { act: "credits", once, amount: "-2", reason: "sold twice" };
      const nobody = Array.from({ length: 201 }, (_, at) => `nobody-${at}`);
      expect((await changeSeveral(nobody.slice(1), credits)).text).toContain("Done for 0 of 200");
      expect((await changeSeveral(nobody, credits)).text).toContain("Choose at most 200: there are 201.");
      await service.adminJson("credits", "add", "page-20@example.com", "5");
      await service.adminJson("credits", "add", "page-22@example.com", "5");
      const half = await changeSeveral(["page-20", "page-21", "nobody", "page-22"], credits);
      expect(half.status).toBe(200);
      expect(half.text).toContain("Done for 2 of 4");
      expect(half.text).toMatch(/page-21@example.com<\/bdi><\/td><td[^>]*>The balance cannot go below 0/);
      expect(half.text).toMatch(
        /nobody@example.com<\/bdi><\/td><td[^>]*>There is no account with this email/,
      );
      await service.adminJson("credits", "add", "page-21@example.com", "5");
      const again = await changeSeveral(["page-20", "page-21", "page-22"], credits);
      expect(again.text).toContain("Done for 1 of 3");
      expect(again.text).toMatch(/page-20@example.com<\/bdi><\/td><td[^>]*>This was done before/);
      expect(await Promise.all(["page-20", "page-21", "page-22"].map(creditsOf))).toEqual([3, 3, 3]);

      const given = await changeSeveral(["page-20", "page-21"], {
        act: "plan",
        give: "trial",
        trialDays: "30",
      });
      expect(given.headers.location).toBe("/accounts?done=change");
      expect((await ann.open("/accounts?done=change")).text).toContain("Done for all that you chose.");
      expect(await service.adminJson("account", "show", "page-21@example.com")).toMatchObject({
        plan: "trial",
      });
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "account set" });
    });

    it.each([
      [[], { act: "plan", give: "hobby" }, "Choose at least one account."],
      [["page-20"], { give: "hobby" }, "Choose what to do."],
      [["page-20"], { act: "plan", give: "Nothing" }, "Choose a plan."],
      [["page-20"], { act: "credits", amount: "many" }, "The amount must be a number"],
    ])("are not changed for %j with %o", async (names, fields, why) => {
      const { status, text } = await changeSeveral(names, { find: "page-2", ...fields } as Record<
        string,
        string
      >);
      expect(status).toBe(400);
      expect(text).toContain(why);
      expect(emailsOn(text)).toHaveLength(10);
      const ticked = [...text.matchAll(/<input type="checkbox"[^>]*checked=""[^>]*>/g)].join();
      for (const name of names) expect(ticked).toContain(`value="${name}@example.com"`);
    });

    it("on a trial are listed by its end", async () => {
      const { text } = await ann.open("/accounts?trials=running");
      expect(emailsOn(text)).toEqual(["ceo", "page-20", "page-21"]);
      expect(emailsOn((await ann.open("/accounts?trials=ended")).text)).toEqual([]);
    });
  });

  describe("an account", () => {
    it("says in a sentence why someone cannot sign in, and what the API answers", async () => {
      const { text } = await ann.open(accountPage);
      expect(text).toContain("no code is pending");
      expect(text).toContain("The API answers trial, so apps may run.");
      expect(text).toContain("The owner reads: “Your trial ends on ");
      expect(text).toContain("They have chosen no time zone, so mails to them have UTC.");
      expect(text).toContain("&quot;status&quot;: &quot;trial&quot;");
    });

    it("says what time it is where its owner is", async () => {
      const owner = "in-berlin@example.com";
      await service.adminJson("account", "add", owner);
      const browser = await Browser.signIn(service, owner);
      const [, account = ""] = /data-account="([^"]+)"/.exec((await browser.open("/home")).text) ?? [];
      await browser.submit("/home/time-zone", { account, zone: "Europe/Berlin" });
      const { text } = await ann.open(`/account?email=${owner}`);
      expect(text).toMatch(/Their time zone is Europe\/Berlin, where it is \d\d:\d\d now\./);
    });

    it("does not say that no code was asked for, after one was used and after sign-out", async () => {
      const owner = "signs-in@example.com";
      await service.adminJson("account", "add", owner);
      const browser = await Browser.signIn(service, owner);
      const words = async () => (await ann.open(`/account?email=${owner}`)).text;
      expect(await words()).toContain("They are signed in, in 1 browser.");
      await browser.submit("/sign-in/out");
      expect(await words()).toContain("They can sign in; no code is pending");
      await service.adminJson("account", "delete", owner);
    });

    const ofAccount = `FROM accounts WHERE email = '${email}'`;
    /** Gives it a licence from Stripe. */
    const license = async () => {
      await stage.query(
        `INSERT INTO billing_customers (account_id, customer_id, created_at_ms, licence)
         SELECT id, 'cus_1', 1, 'given' ${ofAccount}`,
      );
      await stage.query(
        `INSERT INTO billing_subscriptions (id, account_id, status, period_ends_ms, licence_until_ms, version, created_at_ms)
         SELECT 'sub_1', id, 'active', 1, ${Date.now() + 1e9}, 1, 1 ${ofAccount}`,
      );
    };
    const endLicence = async (...trial: string[]) => {
      for (const table of ["subscriptions", "customers"]) await stage.query(`DELETE FROM billing_${table}`);
      await service.adminJson("account", "set", email, "--plan", "trial", ...trial);
    };

    it("says what Stripe has to do with its plan", async () => {
      const given = "Stripe gives licensed, at most 25 assistants, while the subscription is paid";
      expect((await ann.open(accountPage)).text).not.toContain("Stripe gives");
      await license();
      await stage.query("UPDATE billing_customers SET limit_given = 25");
      await stage.query(
        `UPDATE billing_subscriptions SET status = 'past_due', price_id = 'price_x', invoice_id = 'in_1',
           invoice_status = 'open', amount_due = 4900, currency = 'eur'`,
      );
      const { text } = await ann.open(accountPage);
      expect(text).toContain("<dt>Stripe gives</dt><dd>");
      for (const path of ["customers/cus_1", "subscriptions/sub_1", "invoices/in_1"])
        expect(text).toContain(`href="https://dashboard.stripe.com/${path}"`);
      for (const words of ["past due", "price_x", "open", "€49.00"]) expect(text).toContain(words);
      const { facts } = await service.adminJson<{ facts: object }>("explain", email);
      expect(facts).toMatchObject({ licence: given });
      await service.adminJson("account", "set", email, "--plan", "hobby");
      expect(await show()).toMatchObject({ plan: "licensed", operatorGives: "hobby" });
      expect((await ann.open(accountPage)).text).toMatch(/<option[^>]*selected=""[^>]*>Hobby/);
      await endLicence("--trial-days", "3", "--assistant-limit", "none");
    });

    it("gets another plan, in the operator's name", async () => {
      const fields = {
        email,
        seen: await seenIn("/account/terms"),
        plan: "licensed",
        trial_ends_at_ms: "",
        assistant_limit: "12",
      };
      const { status, headers } = await ann.submit("/account/terms", fields);
      expect([status, headers.location]).toEqual([303, "/account?email=ceo%40example.com&done=terms"]);
      expect(await show()).toMatchObject({ plan: "licensed", assistantLimit: 12 });
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "account set", whom: email });
    });

    it("keeps what another operator saved meanwhile, and the form keeps what was typed", async () => {
      const fields = {
        email,
        seen: await seenIn("/account/terms"),
        plan: "trial",
        trial_ends_at_ms: "2031-02-03T04:05",
        assistant_limit: "7",
      };
      await service.adminJson("account", "set", email, "--plan", "hobby");
      const refused = await ann.submit("/account/terms", fields);
      expect(refused.status).toBe(409);
      expect(refused.text).toContain(
        "Someone changed this account meanwhile. It is now: plan hobby, assistant limit 12.",
      );
      expect(refused.text).toContain('<div class="problem conflict" role="alert">');
      expect(refused.text).toMatch(/Last set by operator[\w ]*, now\. What you typed is still in the form\./);
      expect(refused.text).toContain('value="2031-02-03T04:05"');
      expect(refused.text).toContain('value="7"');
      const conflicts = [...refused.text.matchAll(/<span class="field-conflict">(.*?)<\/span>/g)];
      expect(conflicts.map(([, words]) => words)).toEqual([
        "Yours: Trial · now: Hobby",
        "Yours: 2031-02-03 04:05 · now: none",
        "Yours: 7 · now: 12",
      ]);
      expect(await show()).toMatchObject({ plan: "hobby" });
      const seen = seenBy(refused, "/account/terms");
      expect((await ann.submit("/account/terms", { ...fields, seen })).status).toBe(303);
      expect(await show()).toMatchObject({ plan: "trial", trialEndsAt: "2031-02-03T04:05:00.000Z" });
    });

    it("applies only what its sender changed, also after a conflict, and an emptied limit takes it away", async () => {
      const before = await show();
      const form = { email, plan: "trial", trial_ends_at_ms: "2031-02-03T04:05" };
      const limited = { ...form, seen: await seenIn("/account/terms"), assistant_limit: "8" };
      await service.adminJson("account", "set", email, "--plan", "hobby");
      const refused = await ann.submit("/account/terms", limited);
      expect(refused.status).toBe(409);
      // What was not changed shows what it is now.
      expect(refused.text).toMatch(/<option[^>]*selected=""[^>]*>Hobby/);
      expect(refused.text).toContain('value="8"');
      const again = {
        ...limited,
        plan: "hobby",
        trial_ends_at_ms: "",
        seen: seenBy(refused, "/account/terms"),
      };
      expect((await ann.submit("/account/terms", again)).status).toBe(303);
      expect(await show()).toMatchObject({ plan: "hobby", assistantLimit: 8 });
      const seen = await seenIn("/account/terms");
      await ann.submit("/account/terms", {
        email,
        plan: "hobby",
        trial_ends_at_ms: "",
        assistant_limit: "",
        seen,
      });
      expect(await show()).toMatchObject({ plan: "hobby", assistantLimit: null });
      const back = ["--plan", "trial", "--trial-ends", String(before.trialEndsAt)];
      await service.adminJson("account", "set", email, ...back, "--assistant-limit", "7");
    });

    it("keeps what is only sent along: the licence from Stripe, and the seconds of a trial", async () => {
      const endsAtMs = Date.parse("2031-02-03T04:05:06.789Z");
      await stage.query(
        `UPDATE accounts SET plan = 'licensed', trial_ends_at_ms = NULL, assistant_limit = NULL WHERE email = '${email}'`,
      );
      await license();
      await stage.query(
        `UPDATE billing_customers SET plan_before = 'trial', trial_ends_before_ms = ${endsAtMs}`,
      );
      const seen = await seenIn("/account/terms");
      const fields = {
        email,
        seen,
        plan: "trial",
        trial_ends_at_ms: "2031-02-03T04:05",
        assistant_limit: "9",
      };
      expect((await ann.submit("/account/terms", fields)).status).toBe(303);
      expect(await show()).toMatchObject({
        plan: "licensed",
        operatorGives: "trial until 2031-02-03T04:05:06.789Z, at most 9 assistants",
      });
      const [{ licence } = {}] = await stage.query("SELECT licence FROM billing_customers");
      expect(licence).toBe("given");
      await endLicence("--trial-ends", "2031-02-03T04:05:06Z");
    });

    it.each([
      [{ plan: "owner" }, "There is no plan owner."],
      [{ plan: "The Owner" }, "Choose a plan."],
      [
        { plan: "trial", assistant_limit: "-1" },
        "The limit of assistants must be a whole number from 0 to 999999.",
      ],
      [{ plan: "trial", trial_ends_at_ms: "99999-01-01T00:00" }, "A time must be from 1970 to 9999."],
    ])("refuses the terms %o, and changes nothing", async (typed, why) => {
      const before = await show();
      const { status, text } = await ann.submit("/account/terms", {
        email,
        seen: await seenIn("/account/terms"),
        ...typed,
      });
      expect(status).toBe(400);
      expect(text).toContain(why);
      expect(await show()).toEqual(before);
    });

    it("marks the field that was refused alone, with the reason beneath it, and gives it the focus", async () => {
      const { text } = await ann.submit("/account/credits", { email, amount: "many", reason: "sorry" });
      expect(text).toMatch(
        /<input (?=[^>]*name="amount")(?=[^>]*aria-invalid="true")(?=[^>]*autofocus="")[^>]*\/><span class="field-problem">The amount must be a number other than 0, like 2\.5\.<\/span>/,
      );
      expect(text.match(/aria-invalid|autofocus|field-problem/gi)).toHaveLength(3);
      expect((await ann.open(accountPage)).text).not.toMatch(/aria-invalid|autofocus|field-problem/i);
      const several = { emails: email, act: "credits", amount: "2", reason: "" };
      expect((await ann.submit("/accounts/change", several)).text).toMatch(
        /name="reason"[^>]*\/><span class="field-problem">The reason must be one line of 1 to 500 characters\.</,
      );
    });

    it("gets credits with a reason, and loses none below zero", async () => {
      const submit = async (amount: string, reason: string) =>
        ann.submit("/account/credits", { email, once: randomUUID(), amount, reason });
      const given = await submit("2.5", "sorry for the outage");
      expect(given.headers.location).toBe("/account?email=ceo%40example.com&done=credits");
      expect(await newestChange()).toMatchObject({
        who: "operator ann",
        after: { credit_thousandths: 2500, reason: "sorry for the outage" },
      });
      const refused = await submit("-3", "too much");
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("The balance cannot go below 0");
      expect(refused.text).toContain('value="-3"');
      expect(await show()).toMatchObject({ credits: 2.5 });
      // With the sign of the label.
      expect((await submit("\u22120.5", "too much")).headers.location).toBe(given.headers.location);
      expect(await show()).toMatchObject({ credits: 2 });
    });

    it("loses a session, and an app its access", async () => {
      const token = await service.token(email);
      const { text } = await ann.open(accountPage);
      const [, session = ""] = /name="session" value="(sess_[^"]+)"/.exec(text) ?? [];
      const { headers } = await ann.submit("/account/sessions/end", { email, session });
      expect(headers.location).toBe("/account?email=ceo%40example.com&done=end");
      expect(await service.statusFor(token)).toBe(401);
    });

    it("is told what takes something away, whom that reaches and whether it can be undone, once it is opened", async () => {
      const { text } = await ann.open(accountPage);
      const [, zone = ""] = text.split('<details class="fold danger-zone"><summary>');
      const acts = [...zone.matchAll(/<p class="effect">([^<]+)<\/p><button[^>]*class="danger">/g)];
      expect(acts.map(([, effect]) => effect)).toEqual([
        effectOf(moveAccountAct),
        expect.stringMatching(/^Everything goes a day from now: .* take it back for a day/),
        effectOf(deleteAccountAct),
      ]);
    });

    it("is deleted with everything", async () => {
      await service.adminJson("account", "add", "gone@example.com", "--plan", "hobby");
      const seen = seenBy(await ann.open("/account?email=gone@example.com"), "/account/delete");
      const { headers } = await ann.submit("/account/delete", { email: "gone@example.com", seen });
      expect(headers.location).toBe("/account?email=gone%40example.com&done=delete");
      expect((await service.admin("account", "show", "gone@example.com")).code).toBe(1);
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "account delete" });
    });
  });

  describe("a person", () => {
    const person = "person@example.com";
    const submit = (path: string) => ann.submit(path, { email: person });
    const row = async () =>
      (await stage.query(`SELECT deletes_at_ms FROM accounts WHERE email = '${person}'`))[0];

    it("is exported as a file, which the audit notes", async () => {
      await service.adminJson("account", "add", person, "--plan", "hobby");
      const { status, headers, text } = await submit("/account/export");
      expect([
        status,
        headers["content-disposition"],
        headers["content-type"],
        headers["cache-control"],
      ]).toEqual([200, 'attachment; filename="person@example.com.json"', "application/json", "no-store"]);
      expect(JSON.parse(text)).toMatchObject({
        email: person,
        account: { plan: "hobby" },
        invitations: [{}],
      });
      expect(await newestChange()).toMatchObject({
        who: "operator ann",
        what: "person export",
        whom: person,
      });
    });

    it("is erased a day later, unless that is taken back", async () => {
      const { headers } = await submit("/account/erase");
      expect(headers.location).toBe(`/account?email=${encodeURIComponent(person)}&done=erase`);
      const inMs = Number((await row())?.deletes_at_ms) - Date.now();
      expect(inMs / dayMs).toBeCloseTo(1, 2);
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "account leave" });
      const { text } = await ann.open(`/account?email=${person}`);
      expect(text).toContain("<b>Everything about this person is erased</b>");
      await submit("/account/keep");
      expect((await row())?.deletes_at_ms).toBeNull();
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "account stay" });
      await submit("/account/erase");
      // Another owner asks later, and for themselves.
      const other = "leaves-alone@example.com";
      const { id } = await service.adminJson<{ id: string }>("account", "add", other);
      const owner = await Browser.signIn(service, other);
      await owner.submit("/home/account/delete", { account: id });
      await stage.query(`UPDATE accounts SET deletes_at_ms = 1 WHERE email = '${person}'`);
      await service.adminJson("emails", "send-due");
      expect(await row()).toBeUndefined();
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "person erase" });
    });

    it("has a history in words: sessions by their names, and no ids", async () => {
      const other = "history@example.com";
      await service.adminJson("account", "add", other, "--plan", "hobby");
      await Browser.signIn(service, other);
      const shown = async () =>
        (await ann.open(`/account?email=${other}`)).text.split("<h2>History</h2>")[1] ?? "";
      expect(await shown()).toMatch(
        /<span title="sign in"><b><bdi>The owner<\/bdi><\/b> signed in <\/span>.*?<small><bdi>browser “[^”]+”/,
      );
      await service.adminJson("session", "end", other, "--all");
      const history = await shown();
      expect(history).toMatch(/ended access to the account <\/span>.*?<small><bdi>browser “[^”]+” → gone/);
      expect(history.split("<details")[0]).not.toMatch(/sess_|acc_|user_|T\d\d:\d\d:\d\d\.\d{3}Z<\/bdi>/);
    });

    it("has lists that say how many of theirs are shown, once there may be more", async () => {
      const most = "At most 20 are shown here.";
      const other = "history@example.com";
      const entries = async () =>
        (await ann.open(`/account?email=${other}`)).text.split("<h2>History</h2>")[0];
      for (let n = 1; n <= 19; n++)
        await stage.query(
          `INSERT INTO credit_entries (id, account_id, thousandths, reason, created_at_ms)
           SELECT 'many_${n}', id, 0, 'one of many', ${n} FROM accounts WHERE email = '${other}'`,
        );
      expect(await entries()).not.toContain(most);
      await service.adminJson("credits", "add", other, "5");
      expect(await entries()).toContain(most);
    });

    it("without an account is erased at once, and one of whom nothing is stored is refused", async () => {
      await service.submit("/waitlist/join", { email: person });
      expect((await submit("/account/erase")).status).toBe(303);
      expect(await stage.query(`SELECT 1 FROM waitlist WHERE email = '${person}'`)).toEqual([]);
      expect((await ann.submit("/account/erase", { email: "stranger@example.com" })).status).toBe(404);
    });
  });

  describe("a purchase", () => {
    it("has its commands on the page of those of the shell", async () => {
      const { text } = await ann.open("/commands");
      for (const command of ["billing show &lt;email&gt;", "billing reconcile [email]"])
        expect(text).toContain(`${command}</code>`);
    });

    it("is in a line of Today: what is due, unsettled or without account, and that deliveries fail", async () => {
      const office = { OFFICE_PORT: String(await reservePort()) };
      const shop = await openShop(engine, office, { isAlone: true });
      const ben = await OfficeBrowser.enrol(shop.service, "ben");
      const today = async () =>
        (await ben.open("/today")).text.replace(/<!-- -->|\s+/g, " ").replace(/ +/g, " ");
      // Its counts may come after the page.
      const says = (words: string) => eventually(async () => expect(await today()).toContain(words));
      await says("Deliveries are fulfilled.");
      const [late, gone, left, other] = await Promise.all(
        Array.from({ length: 4 }, () => shop.admit("--trial-ends", "2026-01-01")),
      );
      if (!late || !gone || !left || !other) throw new Error("no buyers");
      const [unpaid, unknown] = [await shop.buy(late), await shop.buy(gone)];
      await shop.begin(left);
      await shop.deliverAll();
      const [customer = ""] = [...shop.stripe.customers.keys()];
      const refunded = await shop.buy(other);
      shop.stripe.makeSubscription(customer, "price_month");
      shop.stripe.change(unpaid.subscription, { status: "past_due" });
      shop.stripe.refundCharge(shop.stripe.chargeOf(refunded.subscription));
      await shop.deliverAll();
      const orphan = {
        ...shop.stripe.prices.get("price_month"),
        id: "price_orphan",
        product: { id: "prod_x" },
      };
      shop.stripe.prices.set("price_orphan", orphan as never);
      shop.stripe.makeSubscription(customer, "price_orphan", { account: late.id });
      await shop.deliverAll();
      shop.stripe.subscriptions.delete(unknown.subscription);
      shop.pass(2 * dayMs);
      await shop.reconcile();
      await ben.signIn();
      await says(
        ">1 Plan unknown</a>. 1 checkouts are unsettled for a day; in 30 days 1 purchases without account or for another price, 1 payments returned, 1 bought twice. Deliveries are fulfilled.",
      );
      shop.stripe.faultOf = () => "500";
      shop.stripe.change(unpaid.subscription, { status: "active" });
      for (const event of shop.stripe.takeEvents()) await shop.stripe.deliver(shop.service, event);
      await says("Deliveries fail: the first ");
      await shop.close();
    });
  });

  it("says at Today what to set for a part that is not set up, which the public status does not say", async () => {
    const { text } = await ann.open("/today");
    expect(text).toMatch(
      /<strong>Mail<\/strong>.*?Not set up, so nothing is sent.*?<p class="quiet">Set EMAIL_FROM, and RESEND_API_KEY or SMTP_URL/,
    );
    expect((await service.ask("/status")).text).not.toContain("RESEND_API_KEY");
  });

  it("says nothing of customers at Today while nothing is sold", async () => {
    const today = async () => (await ann.open("/today")).text;
    await eventually(async () => expect(await today(), "it is counted").toContain("All numbers"));
    expect(await today()).not.toContain("Customers:");
  });

  describe("the waitlist", () => {
    it("is invited with one plan, and says who was refused and why", async () => {
      const emails = `new@example.com, other@example.com\n${email}\nnobody`;
      const { status, text } = await ann.submit("/waiting/invite", {
        emails,
        plan: "trial",
        trialDays: "30",
      });
      expect(status).toBe(200);
      expect(text).toContain("Invited 2 of 4");
      expect(text).toMatch(
        /ceo@example.com<\/bdi><\/td><td[^>]*>There is already an account with this email\./,
      );
      expect(text).toMatch(/nobody<\/bdi><\/td><td[^>]*>That is not an email address\. Check it for typos\./);
      const invited = await stage.query(
        "SELECT email, trial_days FROM invitations WHERE accepted_at_ms IS NULL ORDER BY email",
      );
      expect(invited.map(({ email, trial_days }) => [email, Number(trial_days)])).toEqual([
        ["new@example.com", 30],
        ["other@example.com", 30],
      ]);
      const page = async () =>
        (await ann.open("/account?email=new@example.com")).text.replaceAll("<!-- -->", "");
      expect(await page()).not.toContain("Invite again");
      await stage.query("UPDATE invitations SET expires_at_ms = 1 WHERE email = 'new@example.com'");
      expect(await page()).toContain(">Invite again, to a trial of 14 days</button>");
      const again = { emails: "new@example.com", plan: "trial" };
      expect((await ann.submit("/waiting/invite", again)).status).toBe(303);
      expect(await page()).not.toContain("Invite again");
    });

    it("takes recipients as mail programs and spreadsheets write them", async () => {
      const emails = [
        "\ufeffAnn Smith <Ann@Example.org>, bob@example.org;",
        'Roe, Jane <jane@example.org>; "Poe, Max" <max@example.org>\r',
        "'eve@example.org' <eve@example.org>",
        '"carl@example.org","dora@example.org"',
        "Fay\tfay@example.org\tfay.example.org\tCTO\r",
        "Gil Doe (gil@example.org)",
        "hal＠example.org；ida@example.org",
      ];
      const sent = { emails: emails.join("\n"), plan: "hobby" };
      expect((await ann.submit("/waiting/invite", sent)).headers.location).toBe("/waiting?done=invite");
      const invited = await stage.query(
        "SELECT email FROM invitations WHERE email LIKE '%@example.org' ORDER BY email",
      );
      const names = ["ann", "bob", "carl", "dora", "eve", "fay", "gil", "hal", "ida", "jane", "max"];
      expect(invited.map(({ email }) => email)).toEqual(names.map((name) => `${name}@example.org`));
    });

    it("names what looks like an email without being one, and no other word beside one", async () => {
      const emails = "Name\tEmail\nKim Lee\tkim@example.org\nlou.example.org, mia@example.org, Ltd.";
      const { text } = await ann.submit("/waiting/invite", { emails, plan: "hobby" });
      expect(text).toContain("Invited 2 of 4");
      expect(
        [...text.matchAll(/<bdi>([^<]+)<\/bdi><\/td><td[^>]*>That is not/g)].map(([, one]) => one),
      ).toEqual(["name email", "lou.example.org"]);
    });

    it("has boxes that come unticked, and a button on the page of someone who waits", async () => {
      const waits = ["waits-1@example.com", "waits-2@example.com", "waits-3@example.com"];
      for (const one of waits)
        await stage.query(`INSERT INTO waitlist (email, joined_at_ms) VALUES ('${one}', 1)`);
      const { text } = await ann.open("/waiting");
      expect(text.match(/<input type="checkbox"/g)).toHaveLength(3);
      expect(text).not.toContain("checked");
      expect(text).toMatch(/<textarea[^>]*><\/textarea>/);
      const body = `emails=${waits[0]}&emails=${waits[1]}&emails=&plan=hobby`;
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const ticked = await ann.send("POST", "/waiting/invite", body, type);
      expect(ticked.headers.location).toBe("/waiting?done=invite");
      const page = await ann.open(`/account?email=${waits[2]}`);
      expect(page.text.replaceAll("<!-- -->", "")).toContain("Invite to a trial of 14 days</button>");
      await ann.submit("/waiting/invite", { emails: waits[2] ?? "", plan: "trial" });
      const invited = await stage.query(
        "SELECT email, plan FROM invitations WHERE email LIKE 'waits-%' ORDER BY email",
      );
      expect(invited.map(({ plan }) => plan)).toEqual(["hobby", "hobby", "trial"]);
    });

    it("refuses more than 200 at once, and keeps the list in the form", async () => {
      const none = Array.from({ length: 200 }, (_, at) => `w${at}@`).join("\n");
      const most = await ann.submit("/waiting/invite", { emails: none, plan: "hobby" });
      expect(most.text).toContain("Invited 0 of 200");
      const emails = Array.from({ length: 201 }, (_, at) => `w${at}@example.com`).join("\n");
      const { status, text } = await ann.submit("/waiting/invite", { emails, plan: "hobby" });
      expect(status).toBe(400);
      expect(text).toContain("Invite at most 200 at once: there are 201.");
      expect(text).toContain("w200@example.com");
    });
  });

  describe("the banner", () => {
    it("is shown in its kind and both themes before it is published", async () => {
      const { text } = await ann.submit("/announcement/preview", {
        message: "Back at noon",
        kind: "warning",
      });
      const looks = [...text.matchAll(/data-theme="(\w+)"|data-kind="(\w+)"/g)].map(
        ([, theme, kind]) => theme ?? kind,
      );
      expect(looks).toEqual(["light", "warning", "dark", "warning"]);
      expect(await service.adminJson("banner", "show")).toEqual({ banner: null });
    });

    it("is published, told apart from one that another operator published, and removed", async () => {
      const seen = seenBy(await ann.open("/announcement"), "/announcement/publish");
      const fields = { seen, kind: "warning", message: "Back at noon", starts: "", ends: "2031-01-01T12:00" };
      expect((await ann.submit("/announcement/publish", fields)).headers.location).toBe(
        "/announcement?done=publish",
      );
      expect(await service.adminJson("banner", "show")).toMatchObject({
        banner: { kind: "warning", message: "Back at noon", endsAt: "2031-01-01T12:00:00.000Z" },
      });
      expect((await ann.open("/announcement")).text).toContain('value="Back at noon"');
      const late = await ann.submit("/announcement/publish", { ...fields, ends: "2026-01-01T12:00" });
      expect(late.status).toBe(400);
      expect(late.text).toContain("The banner would never show: 1 Jan 2026, 12:00 UTC is over.");
      const again = await ann.submit("/announcement/publish", { ...fields, message: "Back at one" });
      expect(again.status).toBe(409);
      expect(again.text).toContain('value="Back at one"');
      expect((await ann.submit("/announcement/clear", { seen })).status).toBe(409);
      const current = seenBy(await ann.open("/announcement"), "/announcement/clear");
      const { headers } = await ann.submit("/announcement/clear", { seen: current });
      expect(headers.location).toBe("/announcement?done=clear");
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "banner clear" });
    });
  });

  describe("mails that failed", () => {
    beforeEach(async () => {
      await stage.query(
        "UPDATE onboarding_emails SET state = 'failed', failure = 'Mailbox <full>', attempts = 9 WHERE account_id IN (SELECT id FROM accounts)",
      );
    });

    it("are listed with the provider's words, and tried again", async () => {
      const { text } = await ann.open("/mails");
      expect(text).toMatch(/<h3><bdi>Mailbox &lt;full&gt;<\/bdi><\/h3>.*>Try (?:all \d+ )?again</);
      const { headers } = await ann.submit("/mails/retry", { failure: "Mailbox <full>" });
      expect(headers.location).toBe("/mails?done=retry");
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "mails retry" });
      const failed = await stage.query("SELECT id FROM onboarding_emails WHERE state = 'failed'");
      expect(failed).toEqual([]);
    });

    it("are not tried again for someone who wants none", async () => {
      await stage.query(
        "INSERT INTO email_suppressions (email_hash, created_at_ms) SELECT DISTINCT recipient_hash, 1 FROM onboarding_emails",
      );
      const { status, text } = await ann.submit("/mails/retry", { failure: "Mailbox <full>" });
      expect(status).toBe(400);
      expect(text).toContain("its reader wants none");
    });
  });

  describe("the audit", () => {
    it("is found by operator, person, act and day", async () => {
      const today = new Date().toISOString().slice(0, 10);
      const all = `/audit?who=operator+ann&whom=${email}&what=account+set&day=${today}`;
      const { text } = await ann.open(all);
      expect(text).toContain("plan trial → licensed");
      const deed = `<b><bdi>Operator ann</bdi></b> changed what is given to <a href="${accountPage}"`;
      expect(text.replaceAll("<!-- -->", "")).toContain(deed);
      expect(text).toContain(
        '<option value="account set" selected="">account set: changed what is given</option>',
      );
      const { text: unnamed } = await ann.open("/audit?what=of+another+release");
      expect(unnamed).toContain('<option value="of another release" selected="">of another release</option>');
      expect((await ann.open("/audit?what=subscription+past+due")).text).toContain(
        '<option value="subscription past_due" selected="">',
      );
      expect((await ann.open(all.replace("ann", "bob"))).text).toContain("No entry matches.");
      expect((await ann.open(all.replace(today, "2020-01-01"))).text).toContain("No entry matches.");
    });

    it("names an app as its owner reads it, with the site that it is of", async () => {
      const apps = [
        ["a", { name: "A device", origin: "a device" }],
        ["b", { name: "Reports", origin: "reports.example" }],
      ] as const;
      for (const [id, after] of apps)
        await stage.query(
          `INSERT INTO audit_entries (id, at_ms, who, what, whom, after)
           VALUES ('${id}', 1, 'owner', 'app approve', '${email}', '${JSON.stringify(after)}')`,
        );
      const { text } = await ann.open("/audit?what=app+approve");
      for (const words of ["app “A device”", "app “Reports” of reports.example"])
        expect(text).toContain(`<td data-column="Change"><bdi>${words}</bdi></td>`);
    });
  });

  it("has passkeys for the host of OFFICE_URL alone, and check counts the others", async () => {
    expect(await service.check("operators")).toMatchObject({ level: "fine", detail: "for localhost" });
    await stage.query("UPDATE operator_passkeys SET rp_id = 'old.example.com'");
    expect(await service.check("operators")).toMatchObject({
      level: "warning",
      detail: "made for another host than localhost: 1 for old.example.com",
      remedy:
        "They cannot be used here. Set the host of OFFICE_URL back, or send their owners new links by 'operator add'.",
    });
    await stage.query("UPDATE operator_passkeys SET rp_id = 'localhost'");
  });
});
