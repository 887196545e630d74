import { beforeEach, describe, expect, it } from "vitest";
import { settlePayers } from "@/lib/accounts/terms/plan-changes";
import { maxPlans } from "@/lib/plans/plan";
import { borrowService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { emptyTables } from "@/tests/support/lent-service";

const studio = [
  ..."plan set studio --title Studio --feature voice --limit assistants=7 --limit projects=20".split(" "),
  ..."--credits 100 --price price_x".split(" "),
];
const email = "ceo@example.com";

describe.each(engines)("plans on $name", async (engine) => {
  const { service, stage } = await borrowService(engine, { isAlone: true });

  beforeEach(() => emptyTables(stage));

  const admin = (...words: string[]) => service.adminJson(...words);
  async function entitlementOf(email: string) {
    const headers = { Authorization: `Bearer ${await service.token(email)}` };
    const { status, text } = await service.ask("/api/entitlement", { headers });
    const { recheckAfterSeconds: _, ...told } = JSON.parse(text) as Record<string, unknown>;
    return { http: status, ...told };
  }

  it("has three on a new store, which contain nothing that is limited", async () => {
    const plans = await service.adminJson<{ name: string }[]>("plan", "list");
    expect(plans.map(({ name }) => name)).toEqual(["trial", "hobby", "licensed"]);
    expect(await admin("plan", "show", "hobby")).toEqual({
      name: "hobby",
      title: "Hobby",
      description: "For a company of one, free for good.",
      features: {},
      limits: {},
      creditsAMonth: 0,
      prices: [],
      position: 2,
      retiredAt: null,
    });
  });

  it("makes one, gives it to an account, and says in the entitlement what it contains", async () => {
    const made = await admin(...studio);
    expect(made).toEqual({
      name: "studio",
      title: "Studio",
      description: "",
      features: { voice: "Voice" },
      limits: { assistants: 7, projects: 20 },
      creditsAMonth: 100,
      prices: ["price_x"],
      position: 4,
      retiredAt: null,
    });
    await admin("account", "add", email, "--plan", "trial");
    expect(await admin("account", "set", email, "--plan", "studio")).toMatchObject({
      status: "licensed",
      plan: "studio",
      trialEndsAt: null,
      assistantLimit: 7,
    });
    expect(await entitlementOf(email)).toEqual({
      http: 200,
      ok: true,
      status: "licensed",
      plan: "studio",
      assistantLimit: 7,
      features: ["voice"],
      limits: { assistants: 7, projects: 20 },
    });
    await admin("account", "set", email, "--plan", "licensed");
    expect(await entitlementOf(email)).toMatchObject({ plan: "licensed", features: [], limits: {} });
  });

  it("sets what is named, features as a whole, for the next request of everyone who has it", async () => {
    await admin(...studio);
    await admin("account", "add", email, "--plan", "studio");
    await admin("account", "add", "free@example.com", "--plan", "hobby");
    const changed = await admin(
      ..."plan set studio --feature video --feature ten-lines --limit projects=none --limit seats=3".split(
        " ",
      ),
    );
    expect(changed).toMatchObject({
      title: "Studio",
      features: { video: "Video", "ten-lines": "Ten lines" },
      limits: { assistants: 7, projects: null, seats: 3 },
      creditsAMonth: 100,
      prices: ["price_x"],
    });
    expect(await entitlementOf(email)).toMatchObject({
      features: ["video", "ten-lines"],
      limits: { assistants: 7, projects: null, seats: 3 },
    });
    await admin("plan", "set", "hobby", "--feature", "voice=Talk to them", "--limit", "assistants=1");
    expect(await entitlementOf("free@example.com")).toMatchObject({
      status: "hobby",
      plan: "hobby",
      assistantLimit: 1,
      features: ["voice"],
    });
    await admin("plan", "set", "studio", "--feature", "none", "--limit", "projects=gone", "--price", "none");
    const { features, limits } = (await entitlementOf(email)) as Record<string, unknown>;
    expect({ features, limits }).toEqual({ features: [], limits: { assistants: 7, seats: 3 } });
  });

  it("shows what an operator gives one account beyond its plan as that, also next to another plan", async () => {
    await admin(...studio);
    await admin("account", "add", email, "--plan", "studio");
    await admin(
      "account",
      "set",
      email,
      "--feature",
      "video",
      "--limit",
      "projects=50",
      "--limit",
      "seats=none",
    );
    const own = { ownFeatures: ["video"], ownLimits: { projects: 50, seats: null } };
    expect(await admin("account", "show", email)).toMatchObject(own);
    const shown = await service.admin("account", "show", email);
    expect(shown.stdout).toMatch(/^ownLimits +projects=50, seats=none$/m);
    expect(await entitlementOf(email)).toMatchObject({
      features: ["voice", "video"],
      limits: { assistants: 7, projects: 50, seats: null },
    });
    await admin("account", "set", email, "--plan", "hobby");
    expect(await entitlementOf(email)).toMatchObject({ plan: "hobby", features: ["video"] });
    await admin(
      "account",
      "set",
      email,
      "--feature",
      "none",
      "--limit",
      "projects=plan",
      "--limit",
      "seats=plan",
    );
    const left = await admin("account", "show", email);
    expect(Object.keys(left)).not.toContain("ownFeatures");
    expect(left).toMatchObject({ features: [], limits: {} });
  });

  it("offers a retired plan to no one new, and leaves it to who has it", async () => {
    await admin(...studio);
    await admin("account", "add", email, "--plan", "studio");
    const retired = await admin("plan", "retire", "studio");
    expect(retired).toMatchObject({ retiredAt: expect.any(String) });
    expect(await admin("plan", "retire", "studio"), "since the first time").toEqual(retired);
    const { code, stderr } = await service.admin("account", "add", "new@example.com", "--plan", "studio");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "invalid_request: The plan studio is not offered any more. See 'plan list'.\n",
    });
    expect(await entitlementOf(email)).toMatchObject({ plan: "studio", features: ["voice"] });
    await admin("account", "set", email, "--assistant-limit", "9");
    expect(await entitlementOf(email)).toMatchObject({ plan: "studio", assistantLimit: 9 });
    expect(await admin("plan", "set", "studio", "--offer")).toMatchObject({ retiredAt: null });
    await admin("account", "add", "new@example.com", "--plan", "studio");
  });

  it.each([
    [["account", "add", email, "--plan", "platinum"], "There is no plan platinum."],
    [["invite", email, "--plan", "platinum"], "There is no plan platinum."],
    [["plan", "show", "platinum"], "There is no plan with this name."],
    [["plan", "retire", "hobby"], "The plan hobby is always there."],
    [["plan", "set", "trial", "--price", "price_x"], "The plan trial is free."],
    [
      ["plan", "set", "x", ...Array.from({ length: 21 }, (_, at) => ["--price", `price_${at}`]).flat()],
      "At most 20 prices are sold at a time.",
    ],
    [
      ["plan", "set", "x", ...Array.from({ length: 51 }, (_, at) => ["--limit", `l${at}=1`]).flat()],
      "A plan has at most 50 features and limits.",
    ],
    [
      ["account", "add", email, ...Array.from({ length: 51 }, (_, at) => ["--limit", `l${at}=1`]).flat()],
      "An account has at most 50 features and 50 limits beyond its plan.",
    ],
  ])("refuses %j", async (command, message) => {
    const { code, stderr } = await service.admin(...command);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
    const plans = await service.adminJson<object[]>("plan", "list");
    expect(plans).toHaveLength(3);
  });

  it("takes as many prices, features and limits as it says", async () => {
    const count = (most: number, words: (at: number) => string[]) =>
      Array.from({ length: most }, (_, at) => words(at)).flat();
    const limits = count(50, (at) => ["--limit", `l${at}=1`]);
    await admin("plan", "set", "x", ...count(20, (at) => ["--price", `price_${at}`]), ...limits);
    const features = count(50, (at) => ["--feature", `f${at}`]);
    await admin("account", "add", email, ...features, ...limits.map((word) => word.replace("=", "-own=")));
  });

  it("keeps at most fifty", async () => {
    const rows = Array.from({ length: maxPlans - 3 }, (_, at) => `('p${at}', '', '', '{}', '{}', 0, 9)`);
    const columns = "name, title, description, features, limits, credit_thousandths, position";
    await stage.query(`INSERT INTO plans (${columns}) VALUES ${rows.join()}`);
    const { stderr } = await service.admin("plan", "set", "one-more");
    expect(stderr).toContain("There are 50 plans already.");
  });

  it("audits each change, and tells an event of each account whose entitlement it changes", async () => {
    await admin(...studio);
    await admin("account", "add", email, "--plan", "studio");
    await admin("account", "add", "other@example.com", "--plan", "hobby");
    await admin("plan", "set", "studio", "--title", "Atelier");
    await admin("plan", "set", "studio", "--feature", "video");
    const [entry] = await service.adminJson<object[]>("audit", "list", "--limit", "1");
    expect(entry).toMatchObject({
      what: "plan set",
      whom: "studio",
      before: { features: { voice: "Voice" } },
      after: { features: { video: "Video" } },
    });
    const limits = '{"assistants":7,"projects":20}';
    await eventually(async () => expect(await stage.query("SELECT * FROM changed_plans")).toEqual([]));
    const told = await stage.query(
      "SELECT email, data FROM events JOIN accounts ON accounts.id = account_id WHERE type = 'entitlement.changed'",
    );
    expect(told.map(({ email, data }) => ({ email, data: JSON.parse(String(data)) }))).toEqual([
      {
        email,
        data: {
          before: { plan: "studio", features: '{"voice":"Voice"}', limits },
          after: { plan: "studio", features: '{"video":"Video"}', limits },
        },
      },
    ]);
  });

  it("takes a hundred payers of a price along at once, and the others in the reconciler's round", async () => {
    await admin(...studio);
    await admin("plan", "set", "atelier");
    const [nowMs, untilMs] = [Date.now(), Date.now() + 1e9];
    const of = (row: (at: number) => string) => Array.from({ length: 130 }, (_, at) => row(at)).join();
    await stage.query(
      `INSERT INTO accounts (id, email, plan, paid_plan, created_at_ms)
       VALUES ${of((at) => `('acc_${at}', 'a${at}@example.com', 'licensed', 'studio', 1)`)}`,
    );
    await stage.query(
      `INSERT INTO billing_customers (account_id, customer_id, created_at_ms, licence, plan_before)
       VALUES ${of((at) => `('acc_${at}', 'cus_${at}', 1, 'given', 'hobby')`)}`,
    );
    await stage.query(
      `INSERT INTO billing_subscriptions (id, account_id, status, price_id, created_at_ms, licence_until_ms, period_ends_ms, version)
       VALUES ${of((at) => `('sub_${at}', 'acc_${at}', 'active', 'price_x', 1, ${untilMs}, ${untilMs}, 1)`)}`,
    );
    const count = async () =>
      (await stage.query("SELECT id FROM accounts WHERE paid_plan = 'atelier'")).length;
    await admin("plan", "set", "atelier", "--price", "price_x");
    expect(await count()).toBe(100);
    await settlePayers(await stage.open(), nowMs);
    expect(await count()).toBe(130);
  });

  it("denies an account whose plan cannot be read, and no other", async () => {
    await admin(...studio);
    await admin("account", "add", email, "--plan", "studio");
    await admin("account", "add", "other@example.com", "--plan", "hobby");
    await stage.query("UPDATE plans SET limits = '{\"assistants\":-1}' WHERE name = 'studio'");
    await stage.query("UPDATE plan_versions SET version = 'another'");
    expect(await entitlementOf(email)).toMatchObject({ http: 403, status: "invalid" });
    expect(await entitlementOf("other@example.com")).toMatchObject({ http: 200 });
    await eventually(() => expect(service.takeErrors()).toEqual(["a plan could not be read"]));
  });
});
