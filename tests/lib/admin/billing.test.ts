import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { permissionNames } from "@/lib/admin/stripe-permissions";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";

const events = ["checkout.session.*", "customer.subscription.*"];

describe.each(engines)("the commands for billing on $name", async (engine) => {
  const shop = await startShop(engine, { LAPSED_PLAN: "hobby" }, { isAlone: true });

  const check = () => shop.service.check("billing");

  // The service's first round would keep what it reads of a price while a test breaks that.
  beforeAll(() =>
    eventually(async () =>
      expect(await shop.stage.query("SELECT through_ms FROM billing_progress")).toHaveLength(1),
    ),
  );

  it("check asks for each price and for the webhook endpoint, and says what is wrong", async () => {
    const { stripe } = shop;
    const url = "http://localhost:3000/hooks/stripe";
    const endpoint = { id: "we_1", object: "webhook_endpoint", url, status: "enabled" } as const;
    expect(await check()).toMatchObject({
      works: false,
      detail: `the webhook endpoint ${url} does not exist`,
    });
    stripe.endpoints = [{ ...endpoint, enabled_events: events }];
    expect((await check())?.detail).toContain("lacks checkout.session.completed, ");
    stripe.endpoints = [{ ...endpoint, enabled_events: ["*"], status: "disabled" }];
    expect((await check())?.detail).toContain("is disabled");
    stripe.endpoints = [{ ...endpoint, enabled_events: ["*"] }];
    expect(await check()).toMatchObject({
      works: true,
      detail: "Stripe has 3 prices and the webhook endpoint",
    });
    const [prices, { portals }] = [[...stripe.prices], stripe];
    const pack = stripe.prices.get("price_pack") ?? expect.fail("no pack");
    stripe.prices.delete("price_month");
    stripe.prices.set("price_pack", { ...pack, metadata: {} });
    const [first, second] = ((await check())?.detail ?? "").split("; ");
    expect(first).toBe("price_month does not exist in this Stripe account");
    expect(second).toBe("price_pack has no whole number as metadata credits");
    stripe.prices.set("price_month", { ...pack, id: "price_month" });
    expect((await check())?.detail).toContain("price_month is not recurring");
    const recurring = { ...pack, id: "price_month", type: "recurring" } as const;
    stripe.prices.set("price_month", { ...recurring, metadata: { assistant_limit: "many" } });
    expect((await check())?.detail).toContain("price_month has no whole number as metadata assistant_limit");
    stripe.portals = [];
    stripe.clockSkewMs = 90_000;
    stripe.endpoints = [];
    const { detail: also, remedy } = (await check()) ?? {};
    expect(also).toContain("the billing portal has no default configuration");
    expect(also).toMatch(/this clock is (89|90|91) seconds behind Stripe's/);
    for (const words of [
      "Correct these prices at Stripe, in 'plan set' or in STRIPE_CREDIT_PRICES.",
      "Set this machine's clock by NTP: deliveries five minutes off are refused.",
      "Have Stripe deliver these events to it: checkout.session.completed, ",
      "Save one in Stripe's dashboard under Settings, Billing, Customer portal.",
    ])
      expect(remedy).toContain(words);
    stripe.endpoints = [{ ...endpoint, enabled_events: ["*"] }];
    stripe.portals = portals;
    stripe.clockSkewMs = 0;
    stripe.faultOf = () => "401";
    expect(await check()).toMatchObject({ works: false, detail: "Stripe: Invalid API Key provided." });
    stripe.faultOf = () => "none";
    for (const [id, price] of prices) stripe.prices.set(id, price);
  });

  it("check names the permissions that a restricted key lacks, and tries them without changing anything", async () => {
    const { stripe } = shop;
    const before = [stripe.customers.size, stripe.sessions.size, stripe.subscriptions.size];
    const tries: Record<string, string> = {
      "POST /v1/customers/": "Customers: write",
      "POST /v1/checkout/sessions/": "Checkout Sessions: write",
      "POST /v1/billing_portal/sessions": "Customer portal: write",
      "DELETE /v1/subscriptions/": "Subscriptions: write",
      "POST /v1/invoices/": "Invoices: write",
      "GET /v1/customers/cus_cornerofficecheck/payment_methods": "Payment Methods: read",
      "GET /v1/refunds": "Charges and Refunds: read",
      "GET /v1/payment_intents": "Payment Intents: read",
      "GET /v1/disputes": "Disputes: read",
      "GET /v1/prices": "Prices: read",
      "GET /v1/products": "Products: read",
      "GET /v1/webhook_endpoints": "Webhook Endpoints: read",
    };
    for (const [start, name] of Object.entries(tries)) {
      stripe.forbids = (request) => request.startsWith(start);
      expect(await check()).toMatchObject({
        works: false,
        detail: `the restricted key lacks ${name}`,
        remedy: "Give it these permissions in Stripe's dashboard under Developers, API keys.",
      });
    }
    stripe.forbids = () => true;
    expect((await check())?.detail).toContain(Object.values(tries).join(", "));
    stripe.forbids = () => false;
    expect((await check())?.detail).not.toContain("lacks Customers");
    expect([stripe.customers.size, stripe.sessions.size, stripe.subscriptions.size]).toEqual(before);
    const example = readFileSync(".env.example", "utf8").replace(/\n# /g, " ");
    for (const name of permissionNames) expect(example).toContain(name);
  });

  it("check tells of subscriptions that Stripe no longer knows, and of those that stay past due", async () => {
    const [gone, late] = [await shop.admit("--trial-ends", "2026-01-01"), await shop.admit()];
    const ids = [(await shop.buy(gone)).subscription, (await shop.buy(late)).subscription];
    await shop.deliverAll();
    shop.pass(30 * dayMs);
    for (const id of ids) shop.stripe.renew(id, { isPaid: false });
    await shop.deliverAll();
    shop.stripe.subscriptions.delete(ids[0] ?? "");
    shop.pass(22 * dayMs);
    await shop.reconcile();
    const { detail, remedy } = (await check()) ?? {};
    expect(remedy).toContain("Check that STRIPE_SECRET_KEY is of the account that sold them");
    expect(remedy).toContain("Have Stripe cancel them: Settings, Billing, Subscriptions and emails");
    expect(detail).toContain("Stripe no longer knows 1 of the subscriptions");
    expect(detail).toContain("1 subscriptions stay past due although their licences ended");
    expect(await shop.service.adminJson("overview")).toMatchObject({
      customers: { "past-due": 0, unpaid: 1 },
      billing: { unknownToStripe: 1, orphanedIn30Days: 0 },
    });
    shop.stripe.end(ids[1] ?? "");
    await shop.deliverAll();
    await shop.stage.query(`DELETE FROM billing_subscriptions WHERE status = 'gone'`);
  });

  it("show names the customer, each purchase and what last caused it to be read", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { session, subscription } = await shop.buy(buyer);
    await shop.deliverAll();
    const shown = await shop.service.adminJson("billing", "show", buyer.email);
    expect(shown).toMatchObject({
      customer: { customerId: expect.stringMatching(/^cus_/), licence: "given", planBefore: "trial" },
      subscriptions: [{ id: subscription, status: "active", lastEvent: expect.stringMatching(/^c/) }],
      checkouts: [{ sessionId: session, state: "fulfilled", lastEvent: "checkout.session.completed" }],
    });
    const { stdout } = await shop.service.admin("billing", "show", buyer.email);
    const [customer, subscriptions, checkouts, payments] = stdout.split("\n\n");
    expect(customer).toMatch(/^customerId +cus_/);
    expect(subscriptions).toMatch(/^id +status +priceId +periodEnds +unpaidSince +endsAt +due +lastEvent\n/);
    expect(subscriptions).toMatch(new RegExp(`\n${subscription} +active +price_month`));
    expect(checkouts).toMatch(/^sessionId +kind +state +priceId +createdAt +lastEvent +credits +refunded\n/);
    expect(payments).toMatch(/^paidAt +bought +amount +returned +dispute +id *\n/);
    expect(payments).toMatch(new RegExp(`${subscription} +49\\.00 EUR +- +- +ch_`));
    expect(checkouts).toMatch(new RegExp(`\n${session} +licence +fulfilled +price_month`));
  });

  it("person erase ends the subscription at Stripe and deletes the customer, before anything here", async () => {
    const { stripe, service } = shop;
    const [{ buyer, subscription }, bystander] = [await shop.admitLicensed(), await shop.admitLicensed()];
    const customerOf = (id: string) => String(stripe.subscriptions.get(id)?.customer);
    const [customer, another] = [customerOf(subscription), customerOf(bystander.subscription)];
    stripe.faultOf = (request) => (request.startsWith("DELETE") ? "500" : "none");
    const failed = await service.admin("--yes", "person", "erase", buyer.email);
    stripe.faultOf = () => "none";
    expect([failed.code, stripe.customers.has(customer)]).toEqual([1, true]);
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed" });
    await service.adminJson("person", "erase", buyer.email);
    expect([stripe.customers.has(customer), stripe.customers.has(another)]).toEqual([false, true]);
  });

  it("reconcile ends a licence whose end has come while Stripe is away", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { subscription } = await shop.buy(buyer);
    shop.stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    shop.pass(31 * dayMs);
    shop.stripe.faultOf = () => "500";
    await shop.service.admin("billing", "reconcile");
    shop.stripe.faultOf = () => "none";
    expect((await shop.termsOf(buyer)).plan).toBe("hobby");
  });

  it("reconcile with an email finds a subscription that the operator made at Stripe", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { subscription } = await shop.buy(buyer);
    shop.stripe.takeEvents();
    await shop.stage.query("DELETE FROM billing_checkouts");
    expect((await shop.termsOf(buyer)).plan).toBe("trial");
    expect(await shop.reconcile(buyer.email)).toEqual({ read: 1, failed: 0 });
    expect((await shop.termsOf(buyer)).plan).toBe("licensed");
    expect(shop.stripe.requests).toContain(`GET /v1/subscriptions/${subscription}`);
  });

  it("reconcile reads a thousand subscriptions in a round, and first those that were never read, or longest ago", async () => {
    const { id } = await shop.admit();
    await shop.reconcile(); // a store that is behind has no bound
    const nowMs = shop.stripe.nowMs();
    const rows = Array.from(
      { length: 1001 },
      (_, n) => `('sub_${n}', '${id}', 'gone', 1, ${nowMs}, 0, 1, 1, ${n === 1000 ? "NULL" : n})`,
    );
    await shop.stage.query(
      `INSERT INTO billing_subscriptions (id, account_id, status, period_ends_ms, ends_at_ms, licence_until_ms,
         version, created_at_ms, last_event_at_ms) VALUES ${rows.join(", ")}`,
    );
    expect(await shop.reconcile()).toEqual({ read: 1000, failed: 0 });
    const left = () =>
      shop.stage.query(
        "SELECT id FROM billing_subscriptions WHERE last_event_at_ms < 2000 OR last_event_at_ms IS NULL",
      );
    expect(await left()).toEqual([{ id: "sub_999" }]);
    await shop.reconcile();
    expect(await left()).toEqual([]);
    await shop.stage.query(`DELETE FROM billing_subscriptions WHERE account_id = '${id}'`);
  });

  it("reconcile stops after a few failures, says how many, and exits with 1", async () => {
    const { buyer } = await shop.admitLicensed();
    const [customer = ""] = [...shop.stripe.customers.keys()].slice(-1);
    for (let n = 0; n < 11; n++) shop.stripe.makeSubscription(customer, "price_month", { account: buyer.id });
    await shop.deliverAll();
    shop.pass(dayMs);
    const askedInARound = async () => {
      const before = shop.stripe.requests.length;
      expect((await shop.service.admin("billing", "reconcile")).code).toBe(1);
      return shop.stripe.requests.length - before;
    };
    shop.stripe.faultOf = () => "400";
    expect(await askedInARound(), "what is wrong with one is not of the others").toBeGreaterThanOrEqual(12);
    shop.stripe.faultOf = () => "500";
    expect(await askedInARound(), "the rest waits for the next round").toBeLessThan(10);
    shop.stripe.faultOf = () => "none";
    expect(await shop.reconcile()).toMatchObject({ failed: 0 });
    expect((await shop.termsOf(buyer)).plan).toBe("licensed");
  });
});
