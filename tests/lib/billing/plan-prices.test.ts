import { describe, expect, it, onTestFinished } from "vitest";
import { engines } from "@/tests/support/engines";
import { type Buyer, openShop } from "@/tests/support/shop";

const ended = ["--trial-ends", "2026-01-01"];

describe.each(engines)("the prices of plans, on $name", (engine) => {
  async function open(environment = {}) {
    const shop = await openShop(engine, environment, { isAlone: true });
    onTestFinished(() => shop.close());
    const admin = (...words: string[]) => shop.service.adminJson(...words);
    const entitlementOf = async ({ email }: Buyer) => {
      const headers = { Authorization: `Bearer ${await shop.service.token(email)}` };
      const { text } = await shop.service.ask("/api/entitlement", { headers });
      const { plan, features, limits, assistantLimit } = JSON.parse(text);
      return { plan, features, limits, assistantLimit };
    };
    const plansNow = async () => {
      type Plan = { name: string; limits: object; prices: string[] };
      const plans = await shop.service.adminJson<Plan[]>("plan", "list");
      return plans.slice(3).map(({ name, limits, prices }) => ({ name, limits, prices }));
    };
    return { ...shop, admin, entitlementOf, plansNow };
  }

  it("sell a plan that no setting names, and give what it contains", async () => {
    const { admin, admit, buy, deliverAll, entitlementOf } = await open({ STRIPE_LICENCE_PRICES: "" });
    const buyer = await admit(...ended);
    const { text } = await buyer.browser.open("/home/billing");
    expect(text).not.toContain("Buy ");
    await admin(..."plan set studio --feature voice --limit assistants=7 --price price_month".split(" "));
    await buy(buyer);
    await deliverAll();
    expect(await entitlementOf(buyer)).toEqual({
      plan: "studio",
      features: ["voice"],
      limits: { assistants: 7 },
      assistantLimit: 7,
    });
  });

  it("are made of those in the settings once, after which the setting can go", async () => {
    const shop = await open({ STRIPE_LICENCE_PRICES: "price_month,price_team" });
    const { buyer } = await shop.admitLicensed(...ended);
    await shop.reconcile();
    const made = [
      { name: "office-licence", limits: {}, prices: ["price_month"] },
      { name: "team-licence", limits: { assistants: 25 }, prices: ["price_team"] },
    ];
    expect(await shop.plansNow()).toEqual(made);
    const audited = await shop.service.adminJson<{ whom: string | null }[]>("audit", "list");
    expect(audited.filter(({ whom }) => whom === "price_team")).toMatchObject([
      { who: "service", what: "plan of a price", before: null, after: { plan: "team-licence" } },
    ]);
    await shop.service.stop();
    shop.service.environment.STRIPE_LICENCE_PRICES = "";
    await shop.service.run();
    await shop.reconcile();
    expect(await shop.plansNow()).toEqual(made);
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan: "office-licence" });
    const other = await shop.admit(...ended);
    await shop.buy(other, { licence: "price_team" });
    await shop.deliverAll();
    expect(await shop.entitlementOf(other)).toMatchObject({ plan: "team-licence", assistantLimit: 25 });
  });

  it("give the better plan where an operator adds its price to a licence in place of changing that", async () => {
    const shop = await open({ STRIPE_LICENCE_PRICES: "price_month,price_team" });
    const [{ buyer, subscription }, other] = [await shop.admitLicensed(...ended), await shop.admitLicensed()];
    const { items } = shop.stripe.subscriptions.get(subscription) ?? expect.fail("no subscription");
    const price = shop.stripe.prices.get("price_team") as never;
    items.data.push({ ...shop.stripe.itemOf(subscription), id: "si_added", price });
    shop.stripe.change(subscription, {});
    await shop.deliverAll();
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan: "team-licence" });
    items.data.reverse();
    shop.stripe.change(subscription, {});
    await shop.deliverAll();
    expect(await shop.entitlementOf(buyer), "in whichever order").toMatchObject({ plan: "team-licence" });
    expect(await shop.entitlementOf(other.buyer)).toMatchObject({ plan: "office-licence" });
  });

  it("give nothing for another service's price, next to one that Stripe does not know", async () => {
    const shop = await open({ STRIPE_LICENCE_PRICES: "price_gone,price_month" });
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    shop.stripe.switchPrice(subscription, "price_other");
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "trial" });
  });

  it("give who paid before there were plans what they pay for, with the limit that the plan has from then on", async () => {
    const shop = await open();
    const buyer = await shop.admit(...ended);
    await shop.buy(buyer, { licence: "price_team" });
    await shop.deliverAll();
    for (const statement of [
      "UPDATE billing_licence_prices SET plan = NULL, place = NULL, assistant_limit = 25",
      "UPDATE accounts SET given_plan = NULL, paid_plan = NULL, assistant_limit = 25",
      "UPDATE billing_customers SET limit_given = 25",
      "UPDATE billing_subscriptions SET assistant_limit = 25",
      "DELETE FROM plans WHERE position > 3",
      "UPDATE plan_versions SET version = 'of an upgrade'",
    ])
      await shop.stage.query(statement);
    // The service may have done by itself what this asks it to do.
    await shop.reconcile();
    const { plan, assistantLimit } = await shop.entitlementOf(buyer);
    expect(assistantLimit).toBe(25);
    expect(plan, "the price's, or the product's where it was first").toMatch(/^(team|office)-licence$/);
    await shop.admin("plan", "set", plan, "--limit", "assistants=30");
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan, assistantLimit: 30 });
    await shop.admin("account", "set", buyer.email, "--plan", "hobby");
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan, assistantLimit: 30 });
  });

  it("take their payers along to another plan, and leave a plan to who pays a price that is not sold any more", async () => {
    const shop = await open();
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    await shop.admin("plan", "set", "studio", "--feature", "voice", "--price", "price_month");
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan: "studio", features: ["voice"] });
    await shop.admin("plan", "set", "studio", "--price", "price_more");
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan: "studio" });
    const other = await shop.admit(...ended);
    const { text } = await other.browser.submit("/home/checkout", {
      account: other.id,
      licence: "price_month",
    });
    expect(text).toContain("This is not for sale.");
    const { stdout } = await shop.service.admin("check");
    expect(stdout).toContain("no longer sold, and still paid: price_month");
    shop.stripe.end(subscription);
    await shop.deliverAll();
    expect((await shop.termsOf(buyer)).plan).toBe("trial");
  });

  it("and a plan that an operator gives add up, whichever is the greater", async () => {
    const shop = await open();
    await shop.admin(
      ..."plan set studio --feature voice --limit assistants=7 --price price_month".split(" "),
    );
    await shop.admin(..."plan set atelier --feature video --limit assistants=30 --limit films=2".split(" "));
    const { buyer, subscription } = await shop.admitLicensed("--plan", "atelier");
    const both = { plan: "atelier", features: ["video", "voice"], assistantLimit: 30 };
    expect(await shop.entitlementOf(buyer)).toMatchObject(both);
    expect((await shop.entitlementOf(buyer)).limits).toEqual({ assistants: 30, films: null });
    await shop.admin("account", "set", buyer.email, "--plan", "hobby");
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan: "studio", assistantLimit: 7 });
    const [item] = shop.stripe.subscriptions.get(subscription)?.items.data ?? [];
    if (item) item.quantity = 3;
    shop.stripe.change(subscription, {});
    await shop.deliverAll();
    expect(await shop.entitlementOf(buyer)).toMatchObject({ plan: "studio", assistantLimit: 21 });
    await shop.admin("account", "set", buyer.email, "--plan", "atelier");
    shop.stripe.end(subscription);
    await shop.deliverAll();
    expect(await shop.entitlementOf(buyer)).toMatchObject({
      plan: "atelier",
      features: ["video"],
      assistantLimit: 30,
    });
  });
});
