import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { moneyInWords } from "@/lib/config/money";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import type { Buyer } from "@/tests/support/shop";

describe.each(engines.slice(0, 1))("another licence", async (engine) => {
  const shop = await startShop(engine);
  const { stripe } = shop;
  const { subscriptionUpdate: portal } = stripe;
  const [before, prices] = [{ ...portal }, [...stripe.prices]];
  afterEach(() => {
    Object.assign(portal, before);
    for (const [id, price] of prices) stripe.prices.set(id, price);
    stripe.faultOf = () => "none";
    shop.pass(11 * 60_000); // what the portal allows is kept for ten minutes
  });

  const open = async ({ browser }: Buyer, query = "") => {
    await browser.post("/sign-in/renew");
    return (await browser.open(`/home/billing${query}`)).text;
  };
  const wordsIn = (text: string) => text.replaceAll(/<[^>]+>/g, "").replaceAll("\u00a0", " ");
  const halfway = async () => {
    const admitted = await shop.admitLicensed("--trial-ends", "2026-01-01");
    shop.pass(15 * dayMs);
    await shop.reconcile();
    return admitted;
  };
  const lastCharge = () => {
    const { amount_paid, currency } = [...stripe.invoices.values()].at(-1) ?? expect.fail("no invoice");
    return moneyInWords(amount_paid, currency);
  };
  const previews = () => stripe.requests.filter((request) => request.endsWith("create_preview")).length;

  it("is offered with what it costs, and confirmed in the portal, which then charges what was shown", async () => {
    const { buyer, subscription } = await halfway();
    const offered = await open(buyer);
    expect(wordsIn(offered)).toContain(
      "€49 a monthPaid monthlyTeam licence€990 a year that is €82.50 a monthChange to Team licence",
    );
    expect(wordsIn(offered)).toContain("No tax is added.");
    expect(wordsIn(offered)).toContain("500 credits€10, that is €0.02 a credit");
    const [, link = ""] = /href="\/home\/billing(\?change=price_team)#change"/.exec(offered) ?? [];
    const [ticking, atMs] = [stripe.nowMs, stripe.nowMs()];
    stripe.nowMs = () => atMs;
    onTestFinished(() => void Object.assign(stripe, { nowMs: ticking }));
    const chosen = await open(buyer, link);
    const [sum, unused = "", now = ""] =
      /Change to Team licence, paid each year.*UTC€990(?:\.00)?Less what you paid and have not used−€([\d.]+)You pay now(€[\d.]+)Next charge, on .* UTC€990 a year/.exec(
        wordsIn(chosen),
      ) ?? [];
    expect(now).toMatch(/^€965\.5\d$/);
    expect(now).toBe(moneyInWords(99_000 - Number(unused) * 100, "eur"));
    const days = [...(sum ?? "").matchAll(/(?:until|on) ([\w ]+) UTC/g)].map(([, day]) => day);
    expect(days, "paid until the next charge").toEqual([days[0], days[0]]);
    const { text } = await buyer.browser.submit("/home/portal", { account: buyer.id, licence: "price_team" });
    expect(/<a href="[^"]+"/.exec(text)?.[0]).toMatch(/\/portal\/cus_\w+\?to=[^"]+&#38;confirm=price_team"/);
    stripe.switchPrice(subscription, "price_team");
    expect(lastCharge()).toBe(now);
    await shop.deliverAll();
    expect(wordsIn(await open(buyer))).toContain("PlanTeam licence Card");
  });

  it("is shown with its own cost, though another licence was read in the same round", async () => {
    const { buyer: one, subscription } = await halfway();
    const { buyer: other, subscription: another } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    await shop.stage.query(
      `UPDATE billing_subscriptions SET version = 9, last_event_at_ms = ${stripe.nowMs()}
       WHERE id IN ('${subscription}', '${another}') RETURNING id`,
    );
    const [cost, otherCost] = [await open(one, "?change=price_team"), await open(other, "?change=price_team")]
      .map(wordsIn)
      .map((words) => /You pay now€([\d.]+)/.exec(words)?.[1]);
    expect(Number(cost)).toBeGreaterThan(Number(otherCost) + 20);
  });

  it("is the better one of two that are paid", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    await shop.stage.query(
      `INSERT INTO billing_subscriptions
        (id, account_id, status, price_id, period_ends_ms, licence_until_ms, created_at_ms, version, last_event_at_ms)
       SELECT 'sub_other', account_id, status, 'price_team', period_ends_ms, licence_until_ms, created_at_ms, 1, last_event_at_ms
       FROM billing_subscriptions WHERE id = '${subscription}' RETURNING id`,
    );
    await shop.service.adminJson("account", "set", buyer.email, "--plan", "hobby");
    expect(await shop.service.adminJson("account", "show", buyer.email)).toMatchObject({
      plan: "team-licence",
    });
  });

  it("is offered in the licence's currency alone, in which Stripe goes on charging", async () => {
    const { buyer } = await halfway();
    const team = stripe.prices.get("price_team") ?? expect.fail("no price");
    stripe.prices.set("price_team", { ...team, currency: "usd" });
    shop.pass(11 * 60_000);
    expect(await open(buyer)).not.toContain("Change your plan");
    const currency_options = { usd: { unit_amount: 99_000 }, eur: { unit_amount: 95_000 } };
    stripe.prices.set("price_team", { ...team, currency: "usd", currency_options });
    shop.pass(11 * 60_000);
    expect(wordsIn(await open(buyer))).toContain(
      "Team licence€950 a year that is about €79.17 a monthChange to Team licence",
    );
  });

  it.each([
    [
      "with the portal's rule for prorations",
      "always_invoice",
      "unchanged",
      30,
      /until [\w ]+ UTC€49\.\d\dLess what you paid and have not used−€24\.\d\dYou pay now€2[45]\.\d\dNext/,
    ],
    [
      "with another period, whatever that rule is",
      "create_prorations",
      "unchanged",
      365,
      /€99\.00Less what you paid and have not used−€24\.\d\dYou pay now€74\.5\dNext/,
    ],
    ["with a period that begins anew", "create_prorations", "now", 30, /You pay now€74\.5\dNext charge, on /],
  ])("says what is charged now %s", async (_, proration_behavior, billing_cycle_anchor, days, words) => {
    const { buyer } = await halfway();
    const month = stripe.prices.get("price_more") ?? expect.fail("no price");
    const recurring = {
      ...month.recurring,
      interval: days > 30 ? "year" : "month",
    } as typeof month.recurring;
    stripe.prices.set("price_team", { ...month, id: "price_team", recurring });
    Object.assign(portal, { proration_behavior, billing_cycle_anchor });
    shop.pass(11 * 60_000);
    expect(wordsIn(await open(buyer, "?change=price_team"))).toMatch(words);
  });

  it("says when nothing is charged now: with the next invoice, or as the change waits for the period's end", async () => {
    const { buyer } = await halfway();
    const month = stripe.prices.get("price_more") ?? expect.fail("no price");
    stripe.prices.set("price_team", { ...month, id: "price_team" });
    portal.proration_behavior = "create_prorations";
    shop.pass(11 * 60_000);
    expect(wordsIn(await open(buyer, "?change=price_team"))).toMatch(
      /You pay nowNothingTeam licence until [\w ]+ UTC€148\.\d\dLess what you paid and have not used−€24\.\d\dNext charge, on [\w ]+ UTC€12[34]\.\d\d/,
    );
    stripe.prices.set("price_team", { ...month, id: "price_team", unit_amount: 900 });
    portal.schedule_at_period_end = { conditions: [{ type: "decreasing_item_amount" }] };
    shop.pass(11 * 60_000);
    expect(wordsIn(await open(buyer, "?change=price_team"))).toMatch(
      /You pay nowNothingNext charge, on [\w ]+ UTC€9 a month/,
    );
  });

  it("waits for the period's end where the portal says so of a lower price or a shorter period, and else pays back", async () => {
    const { buyer } = await halfway();
    const month = stripe.prices.get("price_month") ?? expect.fail("no price");
    const change = async (condition: string, unit_amount: number, interval: "month" | "week") => {
      const recurring = { ...month.recurring, interval, interval_count: 1 };
      stripe.prices.set("price_team", { ...month, id: "price_team", unit_amount, recurring } as typeof month);
      portal.schedule_at_period_end = { conditions: [{ type: condition }] };
      shop.pass(11 * 60_000);
      const text = wordsIn(await open(buyer, "?change=price_team"));
      if (!text.includes("Less what you paid and have not used")) return "waits";
      return text.includes("Kept for your next charges") ? "pays back" : "is charged";
    };
    const asked: [unit_amount: number, interval: "month" | "week"][] = [
      [4900, "month"],
      [2400, "month"],
      [4900, "week"],
    ];
    for (const [condition, ...becomes] of [
      ["decreasing_item_amount", "is charged", "waits", "is charged"],
      ["shortening_interval", "is charged", "pays back", "waits"],
      ["another", "is charged", "pays back", "is charged"],
    ] as const)
      for (const [at, [amount, interval]] of asked.entries())
        expect(await change(condition, amount, interval), `${condition}: ${amount} a ${interval}`).toBe(
          becomes[at],
        );
  });

  it("says what tax it adds, and what the customer's credit takes off", async () => {
    const { buyer, subscription } = await halfway();
    stripe.taxOfChange = 1000;
    stripe.credits.set(String(stripe.subscriptions.get(subscription)?.customer), 300);
    onTestFinished(() => void Object.assign(stripe, { taxOfChange: 0 }));
    expect(wordsIn(await open(buyer, "?change=price_team"))).toMatch(
      /€990\.00Less what you paid and have not used−€24\.\d\dTax€10\.00Less your discount or credit−€3\.00You pay now€972\.5\dNext/,
    );
    stripe.credits.set(String(stripe.subscriptions.get(subscription)?.customer), 0);
  });

  it("is offered by the prices and the portal alone, to one licence that renews", async () => {
    const { buyer, subscription } = await halfway();
    for (const withheld of [
      { products: [] },
      { enabled: false },
      { default_allowed_updates: ["quantity"] },
    ]) {
      Object.assign(portal, before, withheld);
      shop.pass(11 * 60_000);
      expect(await open(buyer)).not.toContain("Change your plan");
    }
    Object.assign(portal, before);
    shop.pass(11 * 60_000);
    const asked = previews();
    for (const unknown of ["price_pack", "price_month", "price_more", "%00"])
      expect(await open(buyer, `?change=${unknown}`)).toContain("Change your plan");
    expect(previews() - asked, "at most the next payment is asked for").toBeLessThanOrEqual(1);
    stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    expect(await open(buyer)).not.toContain("Change your plan");
  });

  it("begins for no licence that holds a second item, which the portal does not change", async () => {
    const { buyer, subscription } = await halfway();
    const { data } = stripe.subscriptions.get(subscription)?.items ?? expect.fail("no subscription");
    data.push({ ...(data[0] ?? expect.fail("no item")), id: "si_beside" });
    const offered = await open(buyer, "?change=price_team");
    expect(offered).not.toContain("Change your plan");
    expect(offered).not.toContain("what it costs now");
    const form = { account: buyer.id, licence: "price_team" };
    expect((await buyer.browser.submit("/home/portal", form)).text).not.toContain("confirm=price_team");
  });

  it("that waits for the end of the period is named with its day and price, and no other one is offered", async () => {
    const [{ buyer, subscription }, bystander] = [await halfway(), await shop.admitLicensed()];
    const said = /Changes toTeam licence on [\w ]+ UTC; €990 a year/;
    expect(wordsIn(await open(buyer))).not.toMatch(said);
    stripe.scheduleChange(subscription, "price_team");
    await shop.deliverAll();
    shop.pass(2 * 60_000); // the details are kept for a minute
    expect(wordsIn(await open(buyer))).toMatch(said);
    expect(await open(buyer)).not.toContain("Change your plan");
    expect(wordsIn(await open(bystander.buyer))).not.toMatch(said);
    shop.pass(16 * dayMs);
    stripe.itemOf(subscription).price = stripe.prices.get("price_team") as never;
    stripe.renew(subscription);
    await shop.deliverAll();
    expect(wordsIn(await open(buyer)), "once it has begun").not.toMatch(said);
    expect(await open(buyer)).toContain("Change your plan");
  });

  it("leads to the portal's first page where Stripe refuses the change", async () => {
    const { buyer } = await halfway();
    await open(buyer);
    portal.enabled = false;
    const { status, text } = await buyer.browser.submit("/home/portal", {
      account: buyer.id,
      licence: "price_team",
    });
    expect(status).toBe(200);
    expect(text).toMatch(/<a href="[^"]+\/portal\/cus_\w+\?to=[^"&]+"/);
  });

  it("has words for its cost while Stripe does not answer", async () => {
    const { buyer } = await halfway();
    await open(buyer);
    stripe.faultOf = (request) => (request.startsWith("GET /v1/subscriptions/") ? "silent" : "none");
    expect(await open(buyer, "?change=price_team")).toContain(
      "What it costs now Stripe says before that; we cannot at the moment.",
    );
  });

  it("is sold next to one that the operator gave, whose limit stays if it is higher", async () => {
    const buyer = await shop.admit("--plan", "licensed", "--assistant-limit", "3");
    const text = wordsIn(await open(buyer));
    expect(text).toContain("Nothing we gave you your plan");
    expect(text).toContain(
      "Team licence€990 a year that is €82.50 a monthBuy Team licenceUp to 25 assistants",
    );
    await shop.buy(buyer, { licence: "price_team" });
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed", assistantLimit: 25 });
    const again = await buyer.browser.submit("/home/checkout", { account: buyer.id, licence: "price_month" });
    expect(again.headers.location).toBe("/home/billing?checkout=licensed");
    const higher = await shop.admit("--plan", "licensed", "--assistant-limit", "40");
    await shop.buy(higher, { licence: "price_team" });
    await shop.deliverAll();
    expect(await shop.termsOf(higher)).toMatchObject({ plan: "licensed", assistantLimit: 40 });
  });
});
