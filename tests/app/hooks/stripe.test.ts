import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { expectRefusal } from "@/tests/support/contract";
import { engines } from "@/tests/support/engines";
import { reservePort } from "@/tests/support/port";
import { type Buyer, openShop, type Shop } from "@/tests/support/shop";

const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();

describe.each(engines)("POST /hooks/stripe on $name", (engine) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(engine, { METRICS_PORT: String(await reservePort()) });
  });
  afterAll(() => shop.close());
  afterEach(() => {
    shop.stripe.takeEvents();
    shop.stripe.faultOf = () => "none";
  });

  const plan = async (buyer: Buyer) => (await shop.termsOf(buyer)).plan;
  const credits = async (buyer: Buyer) => (await shop.termsOf(buyer)).credits;
  const auditOf = async (buyer: Buyer) =>
    (await shop.service.adminJson<{ who: string; what: string; after: Record<string, unknown> }[]>(
      "audit",
      "list",
      "--of",
      buyer.email,
    )) ?? [];

  /** An owner with a licence, and its ids at Stripe. */
  async function admitLicensed(...terms: string[]) {
    const buyer = await shop.admit(...terms);
    const bought = await shop.buy(buyer);
    await shop.deliverAll();
    return { buyer, ...bought };
  }

  it("gives a licence that was paid, and the audit names Stripe", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    await shop.buy(buyer);
    expect(await plan(buyer)).toBe("trial");
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
    const [newest] = (await auditOf(buyer)).filter(({ what }) => what === "subscription active");
    expect(newest).toMatchObject({ who: "stripe", after: { plan: "licensed" } });
  });

  it("gives the limit of assistants that the price's metadata names, and takes it with the licence", async () => {
    const buyer = await shop.admit("--plan", "hobby", "--assistant-limit", "3");
    const { subscription } = await shop.buy(buyer, { licence: "price_team" });
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed", assistantLimit: 25 });
    shop.stripe.invoices.delete(subscription); // nothing is paid beyond now
    shop.stripe.end(subscription);
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "hobby", assistantLimit: 3 });
  });

  it("gives credits once, however often and in which order events arrive, and lists them in the ledger", async () => {
    const { buyer } = await admitLicensed("--credits", "7");
    const session = await shop.begin(buyer, { credits: "price_pack" });
    shop.stripe.pay(session);
    const [event] = shop.stripe.takeEvents();
    const before = (await auditOf(buyer)).length;
    for (const one of [event, event, event]) {
      expect((await shop.stripe.deliver(shop.service, one as object)).status).toBe(200);
    }
    expect(await credits(buyer)).toBe(507);
    expect((await auditOf(buyer)).length, "a repetition changes nothing").toBe(before + 1);
    const history = await shop.service.adminJson<{ reason: string; credits: number }[]>(
      "credits",
      "history",
      buyer.email,
    );
    expect(history.at(-1)).toMatchObject({ reason: "bought", credits: 500 });
  });

  it("gives credits that a bank pays later, when it has paid, and none when it does not", async () => {
    const { buyer } = await admitLicensed();
    const later = await shop.begin(buyer, { credits: "price_pack" });
    shop.stripe.pay(later, { byBank: true });
    await shop.deliverAll();
    expect(await credits(buyer)).toBe(0);
    shop.stripe.settleAtBank(later, true);
    await shop.deliverAll();
    expect(await credits(buyer)).toBe(500);
    const never = await shop.begin(buyer, { credits: "price_pack" });
    shop.stripe.pay(never, { byBank: true });
    shop.stripe.settleAtBank(never, false);
    await shop.deliverAll();
    expect(await credits(buyer)).toBe(500);
    expect(await shop.reconcile()).toEqual({ read: 0, failed: 0 });
  });

  it("takes back the refunded part of credits, at most what is left, and the audit has the rest", async () => {
    const { buyer } = await admitLicensed();
    const session = await shop.begin(buyer, { credits: "price_pack" });
    shop.stripe.pay(session);
    await shop.deliverAll();
    shop.stripe.refund(session, 250);
    await shop.deliverAll();
    expect(await credits(buyer)).toBe(375);
    await shop.service.adminJson("credits", "add", buyer.email, "-300");
    shop.stripe.refund(session, 750);
    const events = shop.stripe.takeEvents();
    for (const event of [...events, ...events]) await shop.stripe.deliver(shop.service, event);
    expect(await credits(buyer)).toBe(0);
    const rest = (await auditOf(buyer)).filter(({ what }) => what === "credits refunded");
    expect(rest.map(({ after }) => after)).toEqual([{ not_taken_back_thousandths: 300_000 }]);
    await shop.service.adminJson("credits", "add", buyer.email, "10");
    for (const event of events) await shop.stripe.deliver(shop.service, event);
    expect(await credits(buyer), "the rest is not taken from what came later").toBe(10);
  });

  it("settles a refund whose event arrives before that of the payment", async () => {
    const { buyer } = await admitLicensed();
    const session = await shop.begin(buyer, { credits: "price_pack" });
    shop.stripe.pay(session);
    shop.stripe.refund(session, 1000);
    for (const event of shop.stripe.takeEvents().reverse()) await shop.stripe.deliver(shop.service, event);
    expect(await credits(buyer)).toBe(0);
  });

  it.each(["trialing", "past_due"] as const)(
    "keeps the licence of a subscription that is %s",
    async (status) => {
      const { buyer, subscription } = await admitLicensed();
      shop.stripe.change(subscription, { status });
      await shop.deliverAll();
      expect(await plan(buyer)).toBe("licensed");
    },
  );

  it("ends a licence at the end of what was paid: the trial then has its former end", async () => {
    const { buyer, subscription } = await admitLicensed("--trial-ends", "2026-01-01T00:00:00Z");
    shop.stripe.end(subscription);
    await shop.deliverAll();
    expect(await plan(buyer), "the period was paid").toBe("licensed");
    shop.pass(31 * dayMs);
    expect(await shop.reconcile(buyer.email)).toMatchObject({ failed: 0 });
    expect(await shop.termsOf(buyer)).toMatchObject({
      plan: "trial",
      trialEndsAt: "2026-01-01T00:00:00.000Z",
    });
  });

  it("gives back the rest of a trial, when the licence ends before it", async () => {
    const ends = inDays(100);
    const { buyer, subscription } = await admitLicensed("--trial-ends", ends);
    shop.stripe.invoices.delete(subscription);
    shop.stripe.end(subscription);
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "trial", trialEndsAt: ends });
  });

  it("ends a licence whose renewal was never paid with the period that was", async () => {
    const { buyer, subscription } = await admitLicensed("--trial-ends", "2026-01-01");
    shop.pass(30 * dayMs);
    shop.stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect(await plan(buyer), "Stripe still tries").toBe("licensed");
    shop.stripe.change(subscription, { status: "unpaid" });
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("trial");
    shop.stripe.invoices.get(subscription)?.forEach((invoice) => {
      invoice.status = "paid";
    });
    shop.stripe.change(subscription, { status: "active" });
    await shop.deliverAll();
    expect(await plan(buyer), "paid after all").toBe("licensed");
  });

  it("never takes a plan that an operator gave by hand, before or after", async () => {
    const before = await shop.admit("--plan", "hobby");
    const first = await shop.buy(before);
    await shop.deliverAll();
    expect(await plan(before)).toBe("licensed");
    const { buyer: after, subscription } = await admitLicensed("--trial-ends", "2026-01-01");
    await shop.service.adminJson("account", "set", after.email, "--plan", "licensed");
    for (const id of [first.subscription, subscription]) {
      shop.stripe.invoices.delete(id);
      shop.stripe.end(id);
    }
    await shop.deliverAll();
    expect(await plan(before)).toBe("hobby");
    expect(await plan(after)).toBe("licensed");
  });

  it("leaves a plan alone that an operator sets while the licence goes on", async () => {
    const { buyer, subscription } = await admitLicensed();
    await shop.service.adminJson("account", "set", buyer.email, "--plan", "hobby");
    shop.stripe.renew(subscription);
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("hobby");
  });

  it("gives nothing for an account that was erased meanwhile, and the audit says so once", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const session = await shop.begin(buyer);
    await shop.service.adminJson("person", "erase", buyer.email);
    expect(shop.stripe.customers.size, "the customer is deleted").toBe(
      new Set([...shop.stripe.customers.values()].map(({ account }) => account)).size,
    );
    shop.stripe.pay(session);
    const events = shop.stripe.takeEvents();
    for (const event of [...events, ...events]) {
      expect((await shop.stripe.deliver(shop.service, event)).status).toBe(200);
    }
    const rows = await shop.stage.query(
      "SELECT whom FROM audit_entries WHERE what = 'purchase without account'",
    );
    expect(rows.map(({ whom }) => whom).sort()).toEqual([
      session,
      shop.stripe.sessions.get(session)?.subscription,
    ]);
    const accounts = await shop.stage.query("SELECT plan FROM accounts WHERE email LIKE '%@erased.invalid'");
    expect(accounts.map(({ plan }) => plan)).not.toContain("licensed");
  });

  it("answers 200 to events that are none of ours, and does nothing", async () => {
    const { stripe, service } = shop;
    const asked = stripe.requests.length;
    const foreign = (type: string, object: object) => ({
      id: "evt_x",
      object: "event",
      type,
      data: { object },
    });
    for (const event of [
      foreign("payout.paid", { id: "po_1" }),
      foreign("customer.created", { id: "cus_other" }),
      foreign("charge.refunded", { id: "ch_1", payment_intent: null }),
      foreign("checkout.session.completed", {}),
    ]) {
      const { status, text } = await stripe.deliver(service, event);
      expect([status, text]).toEqual([200, '{"received":true}']);
    }
    expect(stripe.requests.length).toBe(asked);
    // Objects that another Stripe account has.
    for (const event of [
      foreign("checkout.session.completed", { id: "cs_live_other", metadata: { account: "acc_x" } }),
      foreign("customer.subscription.updated", { id: "sub_other", status: "active" }),
    ]) {
      expect((await stripe.deliver(service, event)).status).toBe(200);
    }
  });

  it("believes nothing that an event says of its object: Stripe is asked", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const session = await shop.begin(buyer);
    const paid = { ...shop.stripe.sessions.get(session), status: "complete", payment_status: "paid" };
    const forged = {
      id: "evt_y",
      object: "event",
      type: "checkout.session.completed",
      data: { object: paid },
    };
    expect((await shop.stripe.deliver(shop.service, forged)).status).toBe(200);
    expect(await plan(buyer)).toBe("trial");
  });

  it("refuses a missing or wrong signature, another account's, a changed body and one six minutes old", async () => {
    const { stripe, service } = shop;
    const event = { id: "evt_z", object: "event", type: "payout.paid", data: { object: { id: "po" } } };
    const refused = { status: 400, code: "invalid_signature" } as const;
    expectRefusal(service, await service.ask("/hooks/stripe", { method: "POST", body: "{}" }), refused);
    expectRefusal(service, await stripe.deliver(service, event, { signedWith: "whsec_other" }), refused);
    const sixMinutesAgo = stripe.nowMs() - 6 * 60_000;
    expectRefusal(service, await stripe.deliver(service, event, { atMs: sixMinutesAgo }), refused);
    const fourMinutesAgo = stripe.nowMs() - 4 * 60_000;
    expect((await stripe.deliver(service, event, { atMs: fourMinutesAgo })).status).toBe(200);
  });

  it("reads a body of 256 KiB and refuses a larger one", async () => {
    const { stripe, service } = shop;
    const event = (size: number) => ({
      ...{ id: "evt_l", object: "event", type: "payout.paid", data: { object: {} } },
      padding: "x".repeat(size),
    });
    expect((await stripe.deliver(service, event(255 * 1024))).status).toBe(200);
    const tooLarge = await stripe.deliver(service, event(256 * 1024));
    expectRefusal(service, tooLarge, {
      status: 413,
      code: "too_large",
      message: "The body is over 256 KiB.",
    });
  });

  it.each(["500", "429", "401", "reset", "late"] as const)(
    "answers 500 fulfilment_failed when Stripe answers %s, and the repetition works",
    async (fault) => {
      const buyer = await shop.admit("--trial-ends", "2026-01-01");
      await shop.buy(buyer);
      const events = shop.stripe.takeEvents();
      shop.stripe.faultOf = () => fault;
      for (const event of events) {
        const answer = await shop.stripe.deliver(shop.service, event);
        expectRefusal(shop.service, answer, { status: 500, code: "fulfilment_failed" });
      }
      shop.stripe.faultOf = () => "none";
      for (const event of events) expect((await shop.stripe.deliver(shop.service, event)).status).toBe(200);
      expect(await plan(buyer)).toBe("licensed");
    },
  );

  it("counts checkouts begun, fulfilled and failed, and the age of the oldest unsettled one", async () => {
    const buyer = await shop.admit();
    await shop.begin(buyer);
    shop.pass(60_000);
    const address = `http://127.0.0.1:${shop.service.environment.METRICS_PORT}/metrics`;
    const text = await (await fetch(address)).text();
    for (const outcome of ["begun", "fulfilled", "failed"]) {
      expect(text).toMatch(new RegExp(`corner_office_purchases_total\\{outcome="${outcome}"\\} [1-9]`));
    }
    const [, seconds] = /^corner_office_checkouts_oldest_unsettled_seconds (\S+)/m.exec(text) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(60);
  });

  it("never lets an older reading replace a newer one", async () => {
    const { buyer, subscription } = await admitLicensed("--trial-ends", "2026-01-01");
    shop.stripe.change(subscription, { status: "past_due" });
    const [older] = shop.stripe.takeEvents();
    // The first reading is held back until the second one has been stored.
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let readings = 0;
    shop.stripe.whenDone = (request) => {
      if (request.startsWith("GET /v1/subscriptions") && ++readings === 1) return held;
    };
    const first = shop.stripe.deliver(shop.service, older as object);
    while (readings === 0) await new Promise((resolve) => setImmediate(resolve));
    shop.stripe.invoices.delete(subscription);
    shop.stripe.end(subscription);
    await shop.deliverAll();
    letGo();
    expect((await first).status).toBe(200);
    shop.stripe.whenDone = () => {};
    expect(await plan(buyer)).toBe("trial");
    expect(readings, "it was read again").toBe(3);
  });
});
