import { describe, expect, it } from "vitest";
import { startShop } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";

describe.each(engines.slice(0, 1))("sixty deliveries at once", async (engine) => {
  const shop = await startShop(engine);
  const { stripe, service } = shop;
  const reading = "GET /v1/subscriptions/";

  it("refuse no one who buys, take no price from a page, and are all fulfilled", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    const others = await Promise.all(
      Array.from({ length: 3 }, () => shop.admit("--trial-ends", "2026-01-01")),
    );
    const { promise: isOpen, resolve: open } = Promise.withResolvers<"none">();
    stripe.faultOf = (request) => (request.startsWith(reading) ? isOpen : "none");
    const asked = () => stripe.requests.filter((request) => request.startsWith(reading)).length;
    const before = asked();
    stripe.change(subscription, { cancel_at_period_end: true });
    const [event] = stripe.takeEvents();
    const deliveries = Array.from({ length: 60 }, () => stripe.deliver(service, event ?? {}));
    await eventually(async () => expect(asked() - before).toBe(12));

    const sessions = await Promise.all(others.map((other) => shop.begin(other)));
    expect(new Set(sessions).size).toBe(3);
    expect((await service.ask("/")).text).toContain("€49 a month");
    const { text } = await buyer.browser.open("/home/billing");
    expect(text).toContain("Office licence");
    expect(asked() - before, "the others wait, and the page asked for the card").toBe(12 + 1);

    open("none");
    const answers = await Promise.all(deliveries);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
  });

  it("are told to come again when Stripe has long not answered, and a price that was not read is asked for again", async () => {
    const { subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    const { browser } = await shop.admit("--trial-ends", "2026-01-01");
    stripe.change(subscription, { cancel_at_period_end: true });
    const [event] = stripe.takeEvents();
    shop.pass(11 * 60_000); // prices are kept for ten minutes
    stripe.faultOf = () => "silent";
    const deliveries = Array.from({ length: 60 }, () => stripe.deliver(service, event ?? {}));
    await browser.post("/sign-in/renew");
    expect((await browser.open("/home/billing")).text).toContain("Price shown at checkout");
    const statuses = new Set((await Promise.all(deliveries)).map(({ status }) => status));
    expect([...statuses].every((status) => [500, 503].includes(status))).toBe(true);
    stripe.faultOf = () => "none";
    shop.pass(31_000);
    await browser.post("/sign-in/renew");
    expect((await browser.open("/home/billing")).text).toContain("€49 a month");
  });
});

describe.each(engines.slice(0, 1))("calls that take every place", async (engine) => {
  const shop = await startShop(engine);
  const { stripe, service } = shop;
  const { subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
  const reader = await shop.admit("--trial-ends", "2026-01-01");
  const making = "POST /v1/customers";
  const held: (() => void)[] = [];
  const freeOne = () => held.pop()?.();
  const asked = (start: string) => stripe.requests.filter((request) => request.startsWith(start)).length;
  /** Twenty calls of an owner, which Stripe does not answer before they are freed. */
  const takeAll = async () => {
    const { id, browser } = await shop.admit("--trial-ends", "2026-01-01");
    shop.pass(11 * 60_000); // prices are kept for ten minutes
    await Promise.all([browser, reader.browser].map((one) => one.post("/sign-in/renew")));
    stripe.faultOf = (request) =>
      request === making ? new Promise((resolve) => held.push(() => resolve("none"))) : "none";
    const calls = Array.from({ length: 20 }, () =>
      browser.submit("/home/checkout", { account: id, licence: "price_month" }),
    );
    await eventually(async () => expect(held).toHaveLength(20));
    stripe.requests.length = 0;
    return async () => {
      stripe.faultOf = () => "none";
      while (held.length > 0) freeOne();
      await Promise.all(calls);
    };
  };

  it("let an owner go first once one is free, and deliveries only when eight more are", async () => {
    const freeAll = await takeAll();
    stripe.change(subscription, {});
    const [event] = stripe.takeEvents();
    const delivery = stripe.deliver(service, event ?? {});
    const [prices, reading] = ["GET /v1/prices/", "GET /v1/subscriptions/"];
    const page = service.ask("/");
    freeOne();
    await eventually(async () => expect(asked(prices)).toBeGreaterThan(0));
    for (let freed = 0; freed < 7; freed++) freeOne();
    await page;
    expect(asked(reading)).toBe(0);
    freeOne();
    await eventually(async () => expect(asked(reading)).toBeGreaterThan(0));
    await freeAll();
    expect((await delivery).status).toBe(200);
  });

  it("cost a page its prices only as long as they last, because being busy is not kept", async () => {
    const freeAll = await takeAll();
    const words = async () => (await reader.browser.open("/home/billing")).text;
    expect(await words()).toContain("Price shown at checkout");
    await eventually(async () => expect(service.log).toContain("Stripe: enough is being asked"));
    expect(asked("GET /v1/prices/"), "Stripe was not asked").toBe(0);
    await freeAll();
    expect(await words()).toContain("€49 a month");
  });
});
