import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { effectInWords } from "@/lib/admin/act";
import { planActs } from "@/lib/admin/plan";
import { BackendCaller, withBackendApi } from "@/tests/support/backend-caller";
import { startService, startStage } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { emptyTables } from "@/tests/support/lent-service";
import { postLegacy } from "@/tests/support/mcp";
import { OfficeBrowser, seenBy, startWithOffice } from "@/tests/support/office-browser";

const email = "ceo@example.com";
const accountPage = `/account?email=${encodeURIComponent(email)}`;

/** A form as a browser sends it. */
const typed = {
  title: "Studio",
  description: "For a company that works every day.",
  features: "voice = Talk to assistants\r\nten-lines",
  limits: "assistants = 7\nprojects=none",
  credits: "12.5",
  prices: "price_month\r\nprice_year",
  position: "",
};

describe.each(engines)("plans in the office on $name", async (engine) => {
  const stage = await startStage(engine, { isAlone: true });
  const service = await startWithOffice(await withBackendApi({ ...stage.environment, SIGN_IN: "local" }));
  afterAll(() => service.stop());
  const second = await startService(
    await withBackendApi({ ...stage.environment, SIGN_IN: "local", APP_URL: service.url }),
  );
  let ann: OfficeBrowser;

  beforeEach(async () => {
    await emptyTables(stage);
    ann = await OfficeBrowser.enrol(service, "ann");
  });

  const show = (name = "studio") => service.adminJson<Record<string, unknown>>("plan", "show", name);
  const newestChange = async () => (await service.adminJson<object[]>("audit", "list", "--limit", "1"))[0];
  const make = () => ann.submit("/plans/add", { name: "studio", ...typed });
  /** The words of a page, as they are read. */
  const wordsOf = (text: string) => text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  const seenIn = async (path: string, action: string) => seenBy(await ann.open(path), action);

  it("are made with all that they contain, in the operator's name", async () => {
    const { status, headers } = await make();
    expect([status, headers.location]).toEqual([303, "/plans?done=add"]);
    expect(await show()).toEqual({
      name: "studio",
      title: "Studio",
      description: "For a company that works every day.",
      features: { voice: "Talk to assistants", "ten-lines": "Ten lines" },
      limits: { assistants: 7, projects: null },
      creditsAMonth: 12.5,
      prices: ["price_month", "price_year"],
      position: 4,
      retiredAt: null,
    });
    expect(await newestChange()).toMatchObject({ who: "operator ann", what: "plan set", whom: "studio" });
  });

  it("are listed in their order with what each contains and how many accounts have it", async () => {
    await make();
    for (const [name, plan] of [
      ["a", "studio"],
      ["b", "studio"],
      ["c", "licensed"],
      ["d", "hobby"],
    ])
      await service.adminJson("account", "add", `${name}@example.com`, "--plan", plan ?? "");
    await stage.query(
      "UPDATE accounts SET paid_plan = 'studio' WHERE email IN ('b@example.com', 'c@example.com')",
    );
    const { text } = await ann.open("/plans");
    const rows = text.split("<tr>").slice(2).map(wordsOf);
    expect(rows.map((row) => row.trim().split(" ")[0])).toEqual(["Trial", "Hobby", "Licence", "Studio"]);
    expect(rows[3]).toContain(
      "Studio studio For a company that works every day. Talk to assistants, Ten lines Up to 7 assistants · Unlimited projects · 12.5 credits a month price_month, price_year 3",
    );
    expect(rows[2]).toContain("3 with any licence");
    expect(text).toContain('aria-label="Accounts with the plan hobby: 1"');
    expect((await ann.open("/plans?plan=studio")).text).toContain(">Save for all 3 accounts</button>");
    expect((await ann.open("/plans?plan=hobby")).text).toContain(">Save for the one account that has it<");
    const listed = (await ann.open("/accounts?plan=studio")).text;
    await service.adminJson("plan", "retire", "studio");
    expect((await ann.open("/accounts")).text, "kept by who has it").toContain(
      '<a href="/accounts?plan=studio">Studio</a>',
    );
    expect([...listed.matchAll(/<bdi>(\w)@example.com/g)].map(([, name]) => name)).toEqual(["a", "b", "c"]);
  });

  it("are changed by what the form has: what is left out of features, limits and prices goes", async () => {
    await make();
    const seen = await seenIn("/plans?plan=studio", "/plans/change");
    const fields = { plan: "studio", ...typed, seen, credits: "12.5", position: "4" };
    const changed = { features: "video", limits: "seats = 0", prices: "price_year" };
    const { headers } = await ann.submit("/plans/change", { ...fields, ...changed });
    expect(headers.location).toBe("/plans?done=change");
    expect(await show()).toMatchObject({
      title: "Studio",
      features: { video: "Video" },
      limits: { seats: 0 },
      prices: ["price_year"],
    });
    const { text } = await ann.open("/plans?plan=studio");
    expect(text).toMatch(/<textarea name="limits"[^>]*>seats = 0<\/textarea>/);
    const empty = { features: "", limits: "", prices: "", description: "" };
    await ann.submit("/plans/change", { ...fields, ...empty, seen: seenBy({ text }, "/plans/change") });
    expect(await show()).toMatchObject({ features: {}, limits: {}, prices: [], description: "" });
  });

  it("that someone changed meanwhile are not changed, and the form keeps what was typed and shows the rest", async () => {
    await make();
    const seen = await seenIn("/plans?plan=studio", "/plans/change");
    const shown = { features: "voice = Talk to assistants\r\nten-lines = Ten lines", position: "4" };
    const fields = { plan: "studio", ...typed, ...shown, seen, title: "Atelier" };
    await service.adminJson("plan", "set", "studio", "--feature", "video", "--credits", "5");
    const refused = await ann.submit("/plans/change", fields);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(
      "Someone changed this plan meanwhile: what you did not change shows what it is now.",
    );
    expect(refused.text).toMatch(/Last set by operator[\w ]*, now\. What you typed is still in the form\./);
    expect(refused.text).toContain('value="Atelier"');
    const conflicts = [
      ...refused.text.matchAll(
        /(?:name="(\w+)"[^>]*>(?:(?!name=).)*?)<span class="field-conflict">(.*?)<\/span>/gs,
      ),
    ];
    expect(conflicts.map(([, name, words]) => [name, words])).toEqual([
      ["title", "Yours: Atelier · now: Studio"],
      ["features", "Changed meanwhile"],
      ["limits", "Yours: assistants = 7, projects=none · now: assistants = 7, projects = none"],
      ["credits", "Changed meanwhile"],
    ]);
    expect(refused.text).toMatch(/<textarea name="features"[^>]*>video = Video<\/textarea>/);
    expect(await show()).toMatchObject({ title: "Studio", features: { video: "Video" } });
    const again = {
      ...fields,
      features: "video = Video",
      credits: "5",
      seen: seenBy(refused, "/plans/change"),
    };
    expect((await ann.submit("/plans/change", again)).status).toBe(303);
    expect(await show()).toMatchObject({ title: "Atelier", features: { video: "Video" }, creditsAMonth: 5 });
  });

  it("say before they are retired who keeps them and that it can be taken back; the base plans cannot be", async () => {
    await make();
    const read = wordsOf((await ann.open("/plans?plan=studio")).text);
    expect(read).toContain(
      `Retire this plan ${effectInWords(planActs.retire.effect ?? expect.fail("no effect"))} Retire Studio`,
    );
    expect(wordsOf((await ann.open("/plans?plan=hobby")).text)).toContain(
      "This plan is always there, so it cannot be retired.",
    );
  });

  it("are retired and offered again, with their prices", async () => {
    await make();
    expect((await ann.submit("/plans/retire", { plan: "studio" })).headers.location).toBe(
      "/plans?done=retire",
    );
    expect(await newestChange()).toMatchObject({ who: "operator ann", after: { prices: [] } });
    expect(wordsOf((await ann.open("/plans")).text)).toContain("Studio studio Retired");
    expect(wordsOf((await ann.open("/plans?plan=studio")).text)).toMatch(
      /No one new: retired \d+ \w+ \d{4} .* Offer this plan again .* Offer again: Studio/,
    );
    // A form of a retired plan shows no prices, and leaves them.
    const seen = await seenIn("/plans?plan=studio", "/plans/change");
    const fields = { plan: "studio", ...typed, prices: "", position: "4", seen, title: "Atelier" };
    expect((await ann.submit("/plans/change", fields)).status).toBe(303);
    expect((await ann.submit("/plans/offer", { plan: "studio" })).headers.location).toBe("/plans?done=offer");
    expect(await show()).toMatchObject({
      title: "Atelier",
      retiredAt: null,
      prices: ["price_month", "price_year"],
    });
    expect((await ann.submit("/plans/retire", { plan: "hobby" })).text).toContain(
      "The plan hobby is always there.",
    );
    expect((await ann.submit("/plans/offer", { plan: "platinum" })).status).toBe(404);
  });

  it.each([
    [
      { name: "My Plan" },
      "“My Plan” is no name: 1 to 40 lower-case letters, digits and hyphens, a letter first.",
    ],
    [{ name: "hobby" }, "There is already a plan hobby."],
    [{ title: "" }, "The title must be one line of 1 to 500 characters."],
    [{ title: "x".repeat(501) }, "The title must be one line of 1 to 500 characters."],
    [{ features: "Voice notes" }, "“Voice notes” is no name"],
    [{ features: "voice\nvoice = Again" }, "“voice” is there twice."],
    [
      { limits: "projects" },
      "The limit of projects, if it is not none, must be a whole number from 0 to 999999.",
    ],
    [{ limits: "projects = -1" }, "must be a whole number from 0 to 999999."],
    [{ limits: "projects = unlimited" }, "must be a whole number from 0 to 999999."],
    [{ limits: "projects: 5" }, "“projects: 5” is no name"],
    [{ credits: "-1" }, "The credits must be a number from 0, like 2.5."],
    [
      { credits: "1.000" },
      "The credits must not have a 0 as its third decimal: 1.000 is one, or a thousand.",
    ],
    [{ credits: "0.1234" }, "The credits must have at most three decimals."],
    [{ credits: "1000000000001" }, "The credits must be at most 1,000,000,000,000."],
    [{ prices: "prod_1" }, "“prod_1” is no id of a price at Stripe, like price_1Abc."],
    [{ prices: "price_1\nprice_1" }, "“price_1” is there twice."],
    [{ position: "first" }, "The place in the order must be a whole number from 0 to 999999."],
    [
      { limits: Array.from({ length: 51 }, (_, at) => `l${at} = 1`).join("\n") },
      "A plan has at most 50 features and limits.",
    ],
  ])("refuse %o at the form, which keeps what was typed", async (wrong, why) => {
    const before = await service.adminJson("plan", "list");
    const { status, text } = await ann.submit("/plans/add", { name: "studio", ...typed, ...wrong });
    expect(status).toBe(400);
    expect(text).toContain(why);
    expect(text).toContain('value="For a company that works every day."');
    expect(text).toContain(Object.values(wrong)[0]);
    expect(await service.adminJson("plan", "list")).toEqual(before);
  });

  it("ask for the passkey again, and keep what was typed", async () => {
    await stage.query("UPDATE operator_sessions SET proved_at_ms = 0");
    const { text } = await make();
    expect(text).toContain("<bdi>Make the plan?</bdi>");
    expect(text).toContain('value="voice = Talk to assistants\nten-lines"');
  });

  it("reach what apps, assistants, owners and backends are told by each instance at once, by one edit", async () => {
    await make();
    const { id } = await service.adminJson<{ id: string }>("account", "add", email, "--plan", "studio");
    const [worker, other] = [
      await BackendCaller.add(service, "worker"),
      await BackendCaller.add(second, "other"),
    ];
    const token = await service.token(email);
    const browser = await Browser.signIn(service, email);
    const headers = { authorization: `Bearer ${token}` };
    /** What each place says of the plan. */
    const told = async () => {
      const call = { method: "tools/call", params: { name: "get_entitlement", arguments: {} } };
      const inApi = await Promise.all(
        [service, second].map((one) => one.ask("/api/entitlement", { headers })),
      );
      const inMcp = await Promise.all([service, second].map((one) => postLegacy(one, call, { headers })));
      const inBackend = await Promise.all([worker, other].map((one) => one.get(`/v1/accounts/${id}`)));
      const { text } = await browser.open("/home/billing");
      return {
        api: inApi.map(({ text }) => contentsIn(JSON.parse(text))),
        mcp: inMcp.map(({ text }) => contentsIn(JSON.parse(text).result.structuredContent)),
        backend: inBackend.map(({ text }) => contentsIn(JSON.parse(text).entitlement ?? JSON.parse(text))),
        home: [...text.matchAll(/<\/svg>([^<]+)<\/li>/g)].map(([, words]) => words),
      };
    };
    const contentsIn = ({ features, limits }: Record<string, unknown>) => ({ features, limits });
    const everywhere = (contents: object, ...words: string[]) => {
      const both = [contents, contents];
      return { api: both, mcp: both, backend: both, home: [...words, "12.5 credits a month"] };
    };
    const before = { features: ["voice", "ten-lines"], limits: { assistants: 7, projects: null } };
    expect(await told()).toEqual(
      everywhere(before, "Talk to assistants", "Ten lines", "Up to 7 assistants", "Unlimited projects"),
    );
    const seen = await seenIn("/plans?plan=studio", "/plans/change");
    const changed = { features: "voice\nvideo", limits: "assistants = 9\nseats = 3" };
    const fields = { plan: "studio", ...typed, position: "4", seen, ...changed };
    expect((await ann.submit("/plans/change", fields)).status).toBe(303);
    const after = { features: ["voice", "video"], limits: { assistants: 9, seats: 3 } };
    expect(await told()).toEqual(everywhere(after, "Voice", "Video", "Up to 9 assistants", "Up to 3 seats"));
  });

  describe("the page of an account", () => {
    it("shows its plan, who gives it, and what it has beyond it as that", async () => {
      await make();
      await service.adminJson("account", "add", email, "--plan", "studio");
      const limits = ["--limit", "projects=50", "--limit", "seats=3"];
      await service.adminJson("account", "set", email, "--feature", "video", "--feature", "voice", ...limits);
      expect(wordsOf((await ann.open(accountPage)).text)).toContain(
        "You give Studio, for good Features Talk to assistants, Ten lines, Video (beyond the plan) " +
          "Limits Up to 7 assistants · Up to 50 projects (in place of the plan’s unlimited ones) · Up to 3 seats (beyond the plan)",
      );
      await service.adminJson("plan", "set", "office", "--title", "Office", "--limit", "assistants=25");
      await stage.query(`UPDATE accounts SET paid_plan = 'office' WHERE email = '${email}'`);
      await stage.query(
        `INSERT INTO billing_customers (account_id, customer_id, created_at_ms, licence, plan_before)
         SELECT id, 'cus_1', 1, 'given', 'licensed' FROM accounts WHERE email = '${email}'`,
      );
      expect(wordsOf((await ann.open(accountPage)).text)).toContain(
        "You give Studio, for good Stripe gives Office, while it is paid Features",
      );
      const { facts } = await service.adminJson<{ facts: object }>("explain", email);
      expect(facts).toMatchObject({
        account: "studio and office from Stripe",
        licence: "Stripe gives office, while the subscription is paid",
      });
    });

    it("sets features and limits beyond the plan, and takes them away", async () => {
      await make();
      await service.adminJson("account", "add", email, "--plan", "studio");
      const own = { own_features: "video\r\nexport", own_limits: "projects = 50\nseats = none" };
      const fields = { email, plan: "studio", trial_ends_at_ms: "", assistant_limit: "", ...own };
      const seen = await seenIn(accountPage, "/account/terms");
      expect((await ann.submit("/account/terms", { ...fields, seen })).status).toBe(303);
      expect(await service.adminJson("account", "show", email)).toMatchObject({
        ownFeatures: ["video", "export"],
        ownLimits: { projects: 50, seats: null },
      });
      expect(await newestChange()).toMatchObject({ who: "operator ann", what: "account set", whom: email });
      await service.adminJson("account", "set", email, "--limit", "seats=9");
      const stale = { ...fields, own_features: "", seen: await seenIn(accountPage, "/account/terms") };
      await service.adminJson("account", "set", email, "--limit", "seats=10");
      const refused = await ann.submit("/account/terms", stale);
      expect(refused.status).toBe(409);
      expect(refused.text).toContain("Someone changed this account meanwhile.");
      const last = { ...fields, own_features: "", own_limits: "", seen: seenBy(refused, "/account/terms") };
      await ann.submit("/account/terms", last);
      const left = Object.keys(await service.adminJson("account", "show", email));
      expect(left).not.toContain("ownFeatures");
      expect(left).not.toContain("ownLimits");
    });

    it("gives what is changed in it until an end, shows what follows, and takes the end away", async () => {
      await make();
      await service.adminJson("account", "add", email, "--plan", "hobby");
      const fields = { email, trial_ends_at_ms: "", assistant_limit: "", own_features: "", own_limits: "" };
      const send = async (changed: object) => {
        const seen = await seenIn(accountPage, "/account/terms");
        return ann.submit("/account/terms", { ...fields, seen, ...changed });
      };
      const until = { given_ends_at_ms: "2037-01-31T09:30" };
      expect((await send({ plan: "studio", ...until })).status).toBe(303);
      const givenEndsAt = "2037-01-31T09:30:00.000Z";
      const show = () => service.adminJson("account", "show", email);
      expect(await show()).toMatchObject({ plan: "studio", givenEndsAt, afterwards: "hobby" });
      const { text } = await ann.open(accountPage);
      expect(text).toContain('value="2037-01-31T09:30"');
      expect(wordsOf(text)).toContain("You give Studio, until 31 Jan 2037, 09:30 UTC, then Hobby");
      expect(wordsOf(text)).toMatch(
        /What you give ends 31 Jan 2037, 09:30 UTC · in .* and then it has hobby/,
      );
      await send({ plan: "studio", ...until, own_features: "video" });
      expect(await show()).toMatchObject({ ownFeatures: ["video"], givenEndsAt, afterwards: "hobby" });
      await send({ plan: "studio", own_features: "video", given_ends_at_ms: "" });
      expect(Object.keys(await show())).not.toContain("givenEndsAt");
      const refused = await send({
        plan: "studio",
        own_features: "video",
        given_ends_at_ms: "2020-01-31T09:30",
      });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("This end has come already.");
    });

    it.each([
      [{ own_features: "Voice notes" }, "“Voice notes” is no name"],
      [{ own_limits: "seats = many" }, "The limit of seats, if it is not none, must be a whole number"],
    ])("refuses %o, and keeps what was typed", async (wrong, why) => {
      await service.adminJson("account", "add", email, "--plan", "hobby");
      const seen = await seenIn(accountPage, "/account/terms");
      const fields = { email, plan: "hobby", trial_ends_at_ms: "", assistant_limit: "", seen };
      const { status, text } = await ann.submit("/account/terms", { ...fields, ...wrong });
      expect(status).toBe(400);
      expect(text).toContain(why);
      expect(text).toContain(`>${Object.values(wrong)[0]}</textarea>`);
    });
  });
});
