import { beforeEach, describe, expect, it } from "vitest";
import { findAccount } from "@/lib/accounts/accounts";
import { giveDueCredits } from "@/lib/accounts/credits/plan-credits";
import { endGifts } from "@/lib/accounts/terms/gift-ends";
import { dayMs } from "@/lib/config/durations";
import { decideEntitlement } from "@/lib/plans/entitlement";
import { contentsOf, readPlans } from "@/lib/plans/plan";
import { borrowService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { emptyTables } from "@/tests/support/lent-service";

const email = "ceo@example.com";
const studio = "plan set studio --feature voice --limit assistants=7 --credits 100".split(" ");
const lastDay = new Date(Date.now() + 30 * dayMs).toISOString().slice(0, 10);
const endsAtMs = Date.parse(lastDay) + dayMs;
const givenEndsAt = new Date(endsAtMs).toISOString();

describe.each(engines)("the end of what an operator gives on $name", async (engine) => {
  const { service, stage } = await borrowService(engine);
  const db = await stage.open();

  beforeEach(async () => {
    await emptyTables(stage);
    await stage.query("INSERT INTO event_numbers (id, last, swept, since_ms) VALUES (1, 0, 0, 0)");
    await service.adminJson(...studio);
  });

  const admin = (...words: string[]) => service.adminJson<Record<string, unknown>>(...words);
  const add = (...words: string[]) => admin("account", "add", email, ...words);
  const set = (...words: string[]) => admin("account", "set", email, ...words);
  const historyOf = async () =>
    (await service.adminJson<{ credits: number }[]>("credits", "history", email))
      .map(({ credits }) => credits)
      .toSorted((one, other) => one - other);

  /** What an app would be told at an instant, although nothing has noticed the end. */
  async function toldAt(nowMs: number) {
    const account = await findAccount(db, email, nowMs);
    const { ok, status } = decideEntitlement(account, nowMs);
    const { plan, features, limits } = contentsOf(account, await readPlans(db)) ?? {};
    return { ok, status, plan, features, limits };
  }
  const has = { plan: "studio", features: ["voice"], limits: { assistants: 7 } };
  const none = { features: [], limits: {} };
  const nothing = { ok: false, status: "trial-ended", plan: "trial", ...none };

  it("is the end of the day that is named, to the millisecond, and the trial has its rest", async () => {
    const trialEndsAt = new Date(endsAtMs + dayMs).toISOString();
    await add("--plan", "trial", "--trial-ends", trialEndsAt);
    expect(await set("--plan", "studio", "--until", lastDay)).toMatchObject({
      status: "licensed",
      plan: "studio",
      trialEndsAt: null,
      givenEndsAt,
      afterwards: `trial until ${trialEndsAt}`,
    });
    expect(await toldAt(endsAtMs - 1)).toEqual({ ok: true, status: "licensed", ...has });
    expect(await toldAt(endsAtMs)).toEqual({ ok: true, status: "trial", plan: "trial", ...none });
    expect((await findAccount(db, email, endsAtMs)).trial_ends_at_ms).toBe(endsAtMs + dayMs);
    expect(await toldAt(endsAtMs + dayMs)).toEqual(nothing);
  });

  it("is answered at once, and stored, audited and told as an event within seconds", async () => {
    await add("--plan", "hobby");
    await set("--plan", "studio", "--until", lastDay);
    const headers = { Authorization: `Bearer ${await service.token(email)}` };
    const ask = async () => JSON.parse((await service.ask("/api/entitlement", { headers })).text);
    expect(await ask()).toMatchObject({ ok: true, status: "licensed", ...has });
    await stage.query(`UPDATE accounts SET given_ends_at_ms = ${Date.now() - 1}`);
    expect(await ask()).toMatchObject({ ok: true, status: "hobby", plan: "hobby", ...none });
    await eventually(async () => {
      const [entry] = await service.adminJson<object[]>("audit", "list", "--limit", "1");
      expect(entry).toMatchObject({
        who: "service",
        what: "end of what was given",
        whom: email,
        before: { plan: "licensed", given_plan: "studio" },
        after: { plan: "hobby", given_plan: null, given_ends_at_ms: null, given_after: null },
      });
    });
    const told = await stage.query("SELECT data FROM events WHERE type = 'entitlement.changed' ORDER BY seq");
    const last = JSON.parse(String(told.at(-1)?.data));
    expect(last).toMatchObject({
      before: { status: "licensed", plan: "studio", assistantLimit: 7, givenEndsAtMs: expect.any(Number) },
      after: { status: "hobby", plan: "hobby", assistantLimit: null, givenEndsAtMs: null },
    });
    const [row] = await stage.query("SELECT plan, given_plan FROM accounts");
    expect(row).toEqual({ plan: "hobby", given_plan: null });
    await endGifts(db, Date.now());
    const again = await stage.query("SELECT seq FROM events WHERE type = 'entitlement.changed'");
    expect(again).toHaveLength(told.length);
  });

  it("is shown to the owner, in an explanation and to apps by when they ask again", async () => {
    await add("--plan", "trial");
    await set("--plan", "studio", "--until", new Date(Date.now() + 60_000).toISOString());
    const headers = { Authorization: `Bearer ${await service.token(email)}` };
    const { recheckAfterSeconds } = JSON.parse((await service.ask("/api/entitlement", { headers })).text);
    expect(recheckAfterSeconds).toBeLessThanOrEqual(60);
    const { facts } = await admin("explain", email);
    expect(facts).toMatchObject({ account: expect.stringMatching(/^studio; what is given ends 20\S+Z \(/) });
    const browser = await Browser.signIn(service, email);
    for (const path of ["/home", "/home/billing"]) {
      const { text } = await browser.open(path);
      expect(text).toContain("What we gave you ends on");
      expect(text).not.toContain("It has no end");
    }
  });

  it("leaves what was given before and for good, and takes what was given until then", async () => {
    await add("--plan", "licensed", "--assistant-limit", "3", "--feature", "export", "--limit", "seats=5");
    await set("--plan", "studio", "--assistant-limit", "9", "--feature", "video", "--until", lastDay);
    await set("--limit", "projects=50"); // for good
    const own = { features: ["voice", "video"], limits: { assistants: 9, seats: 5, projects: 50 } };
    expect(await toldAt(endsAtMs - 1)).toMatchObject({ plan: "studio", ...own });
    expect(await toldAt(endsAtMs)).toMatchObject({
      status: "licensed",
      plan: "licensed",
      features: ["export"],
      limits: { assistants: 3, seats: 5, projects: 50 },
    });
    expect(await set("--plan", "hobby")).toMatchObject({
      plan: "hobby",
      givenEndsAt,
      afterwards: "hobby, at most 3 assistants",
    });
    expect(await toldAt(endsAtMs)).toMatchObject({ status: "hobby", features: ["export"] });
  });

  it("is moved by a later one, and taken away by none or by a plan without an end", async () => {
    await add("--plan", "trial");
    await set("--plan", "studio", "--until", lastDay);
    const later = new Date(endsAtMs + 5 * dayMs).toISOString();
    expect(await set("--until", later)).toMatchObject({ plan: "studio", givenEndsAt: later });
    expect(await toldAt(endsAtMs)).toMatchObject({ plan: "studio" });
    expect(await toldAt(endsAtMs + 5 * dayMs)).toEqual(nothing);
    for (const words of [
      ["--until", "none"],
      ["--plan", "studio"],
    ]) {
      await set("--plan", "studio", "--until", lastDay);
      expect(Object.keys(await set(...words))).not.toContain("givenEndsAt");
      expect(await toldAt(endsAtMs + 900 * dayMs)).toEqual({ ok: true, status: "licensed", ...has });
    }
  });

  it("ends all that is given if it is set alone, and the licence like a trial", async () => {
    await add("--plan", "studio", "--feature", "video", "--credits", "5");
    expect(await set("--until", lastDay)).toMatchObject({
      givenEndsAt,
      afterwards: "a trial that has ended",
    });
    expect(await toldAt(endsAtMs)).toEqual(nothing);
    await endGifts(db, endsAtMs);
    const told = await stage.query("SELECT data FROM events WHERE type = 'entitlement.changed' ORDER BY seq");
    expect(JSON.parse(String(told.at(-1)?.data)).after).toMatchObject({ status: "trial-ended" });
  });

  it("opens an account that is on a trial afterwards", async () => {
    const soon = new Date(Date.now() + 2 * dayMs).toISOString();
    expect(await add("--plan", "studio", "--until", soon)).toMatchObject({
      plan: "studio",
      givenEndsAt: soon,
    });
    expect(await toldAt(Date.parse(soon))).toMatchObject({ ok: true, status: "trial" });
    expect(await toldAt(Date.now() + 15 * dayMs)).toEqual(nothing);
  });

  it("leaves what Stripe gives, with the higher limit of the two", async () => {
    await service.adminJson(
      ..."plan set office --title Office --limit assistants=25 --price price_x".split(" "),
    );
    const { id } = await add("--plan", "trial", "--assistant-limit", "3");
    const soldUntilMs = endsAtMs + 100 * dayMs;
    await stage.query(
      `INSERT INTO billing_customers (account_id, customer_id, created_at_ms) VALUES ('${id}', 'cus_1', 1)`,
    );
    await stage.query(
      `INSERT INTO billing_subscriptions (id, account_id, status, price_id, created_at_ms, licence_until_ms, period_ends_ms, version)
       VALUES ('sub_1', '${id}', 'active', 'price_x', 1, ${soldUntilMs}, ${soldUntilMs}, 1)`,
    );
    await set("--plan", "studio", "--assistant-limit", "30", "--until", lastDay);
    expect(await admin("account", "show", email)).toMatchObject({
      plan: "office",
      givenEndsAt,
      operatorGives: "studio, at most 30 assistants",
      stripeGives: "office, at most 25 assistants",
    });
    const office = { ok: true, status: "licensed", plan: "office" };
    expect(await toldAt(endsAtMs - 1)).toEqual({
      ...office,
      features: ["voice"],
      limits: { assistants: 30 },
    });
    expect(await toldAt(endsAtMs)).toEqual({ ...office, features: [], limits: { assistants: 25 } });
    await endGifts(db, endsAtMs);
    expect(await toldAt(endsAtMs)).toEqual({ ...office, features: [], limits: { assistants: 25 } });
    expect(await admin("account", "show", email)).toMatchObject({
      operatorGives: expect.stringMatching(/^trial until/),
    });
  });

  it("gives the months that began before it, also late, and then those of the plan that follows", async () => {
    await service.adminJson("plan", "set", "hobby", "--credits", "5");
    await add("--plan", "hobby");
    const openedMs = (await findAccount(db, email)).created_at_ms;
    const threeMs = openedMs + 80 * dayMs;
    await set("--plan", "studio", "--until", new Date(threeMs).toISOString());
    expect(await historyOf()).toEqual([5, 95]);
    await giveDueCredits(db, openedMs + 130 * dayMs);
    await endGifts(db, openedMs + 130 * dayMs);
    await giveDueCredits(db, openedMs + 130 * dayMs);
    expect(await historyOf()).toEqual([5, 5, 5, 95, 100, 100]);
  });

  it.each([
    [["--plan", "studio", "--until", "2020-01-31"], "This end has come already. Set one that is to come."],
    [["--plan", "trial", "--until", lastDay], "A trial has an end of its own. Set it with '--trial-ends'."],
    [
      ["--until", lastDay],
      "Nothing is given that could end. Name a plan, features or limits next to the end.",
    ],
    [["--plan", "hobby", "--until", lastDay], "Nothing is given that could end."],
    [["--plan", "studio", "--until", "soon"], "Write it like 2027-01-31 or 2027-01-31T09:00:00Z."],
  ])("refuses %j", async (words, why) => {
    await add("--plan", "hobby");
    const { code, stderr } = await service.admin("account", "set", email, ...words);
    expect(stderr).toContain(why);
    expect(code).not.toBe(0);
  });

  it("is stored for all others, and logged once, where what follows cannot be read", async () => {
    const all = Array.from(
      { length: 103 },
      (_, n) => `('stuck-${n}', 'gift-${n}@example.com', 'licensed', 'studio', 1, ${n}, '{}')`,
    );
    await stage.query(
      `INSERT INTO accounts (id, email, plan, given_plan, created_at_ms, given_ends_at_ms, given_after) VALUES ${all.join()}`,
    );
    await add("--plan", "hobby");
    await set("--plan", "studio", "--until", lastDay);
    await stage.query(`UPDATE accounts SET given_ends_at_ms = 1000 WHERE email = '${email}'`);
    await eventually(async () => {
      const [row] = await stage.query(`SELECT plan FROM accounts WHERE email = '${email}'`);
      expect(row).toEqual({ plan: "hobby" });
      expect(service.log.match(/"account":"stuck-102"/g)).toHaveLength(1);
    });
    await set("--plan", "studio", "--until", lastDay);
    await stage.query(`UPDATE accounts SET given_ends_at_ms = 1000 WHERE email = '${email}'`);
    await eventually(async () => {
      const [row] = await stage.query(`SELECT plan FROM accounts WHERE email = '${email}'`);
      expect(row).toEqual({ plan: "hobby" });
    });
    expect(service.log.match(/"account":"stuck-102"/g), "a round later").toHaveLength(1);
    service.takeErrors();
  });

  it("denies an account of which it cannot read what follows, and changes nothing", async () => {
    await add("--plan", "studio", "--until", lastDay);
    const headers = { Authorization: `Bearer ${await service.token(email)}` };
    await stage.query("UPDATE accounts SET given_after = '{}'");
    expect((await service.ask("/api/entitlement", { headers })).status).toBe(403);
    await endGifts(db, endsAtMs).catch(() => undefined);
    const [row] = await stage.query("SELECT given_plan FROM accounts");
    expect(row).toEqual({ given_plan: "studio" });
  });
});
