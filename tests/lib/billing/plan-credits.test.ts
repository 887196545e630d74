import { describe, expect, it } from "vitest";
import { giveDueCredits, readNextCredits } from "@/lib/accounts/credits/plan-credits";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import type { Buyer } from "@/tests/support/shop";
import { copyStore, replaceStore } from "@/tests/support/store-copies";

const ended = ["--trial-ends", "2026-01-01"];
const licence = (price: string) => ({ licence: price });

describe.each(engines)("the credits of a plan on $name", async (engine) => {
  const shop = await startShop(engine, { RETENTION_DAYS: "3650" });
  const { stripe, service, stage } = shop;
  stripe.isByCalendar = true;
  const [db, another] = [await stage.open(), await stage.open()];
  await service.adminJson(..."plan set studio --title Studio --credits 100 --price price_month".split(" "));
  await service.adminJson(..."plan set team --title Team --credits 300 --price price_team".split(" "));

  /** The ledger as an operator reads it, without what an account had before. */
  const ledgerOf = async ({ email }: { email: string }) => {
    const entries = await service.adminJson<{ credits: number; reason: string }[]>(
      "credits",
      "history",
      email,
    );
    return entries.map(({ credits, reason }) => `${credits} ${reason}`);
  };
  const studio = "100 credits of the month, Studio";
  const times = (many: number, what: string) => Array.from({ length: many }, () => what);

  /** Lets time pass and has two instances give what is due, next to the service that does it too. */
  async function pass(days: number): Promise<void> {
    shop.pass(days * dayMs);
    // Rounds that found nothing new.
    await stage.query(`UPDATE billing_progress SET through_ms = ${stripe.nowMs()}`);
    await Promise.all([giveDueCredits(db, stripe.nowMs()), giveDueCredits(another, stripe.nowMs())]);
  }

  /** Lets time pass until an instant of Stripe's, and a second more. */
  const passTo = (seconds: number) => pass((seconds * 1000 + 1000 - stripe.nowMs()) / dayMs);
  const periodOf = (subscription: string) => {
    const item = stripe.subscriptions.get(subscription)?.items.data[0];
    return { from: item?.current_period_start ?? 0, until: item?.current_period_end ?? 0 };
  };

  async function buyLicence(price: string): Promise<{ buyer: Buyer; subscription: string }> {
    const buyer = await shop.admit(...ended);
    shop.pass(2000); // a subscription's second is after the account's opening
    const { subscription } = await shop.buy(buyer, licence(price));
    await shop.deliverAll();
    return { buyer, subscription };
  }

  it("come with a licence at once and with each month that is paid, also if its event comes twice", async () => {
    const { buyer, subscription } = await buyLicence("price_month");
    expect(await ledgerOf(buyer)).toEqual([studio]);
    // Its instant is the store's: once the service's clock is a month ahead, its first sweep would delete it.
    const [told] = await stage.query(
      `SELECT data FROM events WHERE type = 'credits.changed' AND account_id = '${buyer.id}' ORDER BY seq DESC LIMIT 1`,
    );
    expect(JSON.parse(String(told?.data))).toMatchObject({ after: { balanceThousandths: 100_000 } });
    await passTo(periodOf(subscription).until);
    expect(await ledgerOf(buyer)).toEqual([studio]);
    stripe.renew(subscription);
    const events = stripe.takeEvents();
    await Promise.all([...events, ...events].map((event) => stripe.deliver(service, event)));
    for (const event of events) await stripe.deliver(service, event);
    expect(await ledgerOf(buyer)).toEqual(times(2, studio));
    expect(await shop.termsOf(buyer)).toMatchObject({ credits: 200 });
  });

  it("come twelve times in a year that is paid at once, on the day of the month, and say when next", async () => {
    const { buyer, subscription } = await buyLicence("price_team");
    const { from, until } = periodOf(subscription);
    const next = async () => readNextCredits(db, buyer.id, stripe.nowMs());
    const { text } = await buyer.browser.open("/home/billing");
    expect(text).toMatch(/Your plan gives (?:<!-- -->)?300(?:<!-- -->)? more on (?:<!-- -->)?<time/);
    const dates: string[] = [];
    while (stripe.nowMs() < until * 1000 - 40 * dayMs) {
      const { atMs = 0, credits } = (await next()) ?? {};
      expect(credits).toBe(300);
      dates.push(new Date(atMs).toISOString().slice(8));
      await passTo(atMs / 1000);
    }
    expect(await ledgerOf(buyer)).toEqual(times(12, "300 credits of the month, Team"));
    expect(new Set(dates).size).toBeLessThanOrEqual(4); // the day, and the last of shorter months
    expect(dates.every((date) => date.slice(2) === new Date(from * 1000).toISOString().slice(10))).toBe(true);
    await passTo(until);
    expect(await ledgerOf(buyer)).toHaveLength(12);
    stripe.renew(subscription);
    await shop.deliverAll();
    expect(await ledgerOf(buyer)).toHaveLength(13);
  });

  it("wait while a month is not paid, and come once it is", async () => {
    const { buyer, subscription } = await buyLicence("price_month");
    await passTo(periodOf(subscription).until);
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    await pass(3);
    expect(await ledgerOf(buyer)).toEqual([studio]);
    expect(await readNextCredits(db, buyer.id, stripe.nowMs())).toBeUndefined();
    stripe.payOpen(subscription);
    await shop.deliverAll();
    await shop.reconcile(buyer.email);
    expect(await ledgerOf(buyer)).toEqual(times(2, studio));
  });

  it("of a month that no one paid do not come with a later one that is", async () => {
    const { buyer, subscription } = await buyLicence("price_month");
    for (const _ of [1, 2]) {
      await passTo(periodOf(subscription).until);
      stripe.renew(subscription, { isPaid: false });
      stripe.change(subscription, { status: "unpaid" });
      await shop.deliverAll();
    }
    await pass(3);
    expect(await ledgerOf(buyer)).toEqual([studio]);
    const { latest_invoice } = stripe.subscriptions.get(subscription) ?? {};
    const newest = stripe.invoices.get(latest_invoice ?? "") ?? expect.fail("no invoice");
    stripe.payInvoice(newest, newest.amount_remaining);
    stripe.change(subscription, { status: "active" });
    await shop.deliverAll();
    await shop.reconcile(buyer.email);
    expect(await ledgerOf(buyer)).toEqual(times(2, studio));
  });

  it("come at once for what a better plan gives beyond, and stay after the licence's end", async () => {
    const { buyer, subscription } = await buyLicence("price_month");
    await pass(10);
    await service.adminJson("account", "set", buyer.email, "--plan", "team");
    expect(await ledgerOf(buyer)).toEqual([studio, "200 more credits of the month, Team"]);
    await service.adminJson("account", "set", buyer.email, "--plan", "hobby");
    await service.adminJson("account", "set", buyer.email, "--plan", "team");
    await service.adminJson("account", "set", buyer.email, "--plan", "hobby");
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed", credits: 300 });
    stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    expect(await readNextCredits(db, buyer.id, stripe.nowMs())).toBeUndefined();
    await passTo(periodOf(subscription).until);
    stripe.end(subscription);
    await shop.deliverAll();
    await pass(70);
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "hobby", credits: 300 });
  });

  it("are not those of a price that was left before anyone heard of it", async () => {
    const { buyer, subscription } = await buyLicence("price_team");
    shop.pass(17 * dayMs);
    stripe.switchPrice(subscription, "price_month");
    stripe.takeEvents();
    shop.pass(35 * dayMs); // the second month at the first price would have begun
    stripe.renew(subscription);
    stripe.takeEvents();
    await shop.reconcile(buyer.email);
    expect(await ledgerOf(buyer)).toEqual(["300 credits of the month, Team", studio]);
  });

  it("count for a new period by the part that is left of what was paid", async () => {
    const { buyer, subscription } = await buyLicence("price_month");
    const { from, until } = periodOf(subscription);
    shop.pass(10 * dayMs);
    stripe.switchPrice(subscription, "price_team");
    await shop.deliverAll();
    const switched = periodOf(subscription).from;
    const counted = Math.ceil((100_000 * (until - switched)) / (until - from));
    expect(await ledgerOf(buyer)).toEqual([
      studio,
      `${(300_000 - counted) / 1000} credits of the month, Team`,
    ]);
  });

  it("come for each month that the service was away, and again exactly once in a store that is restored", async () => {
    const month = await buyLicence("price_month");
    const year = await buyLicence("price_team");
    const given = await shop.admit("--plan", "studio");
    const copy = await copyStore(stage);
    for (let months = 0; months < 3; months++) {
      await passTo(periodOf(month.subscription).until);
      stripe.renew(month.subscription);
    }
    stripe.takeEvents(); // none arrived
    await pass(0.01);
    await shop.reconcile();
    await pass(0);
    const all = async () => Promise.all([month.buyer, year.buyer, given].map(ledgerOf));
    const whole = [times(4, studio), times(4, "300 credits of the month, Team"), times(4, studio)];
    expect(await all()).toEqual(whole);
    await replaceStore(stage, copy);
    await shop.reconcile();
    await eventually(async () => {
      await pass(1 / 24); // the service may read Stripe at the same time, and credits wait an hour for it
      expect(await all()).toEqual(whole);
    });
    await shop.reconcile();
    await pass(0);
    expect(await all()).toEqual(whole);
  });

  it("come in a store that is restored once Stripe was read, and not for what has ended since", async () => {
    const { buyer, subscription } = await buyLicence("price_team");
    const free = await shop.admit("--plan", "studio");
    await shop.reconcile();
    const copy = await copyStore(stage);
    stripe.end(subscription);
    await shop.reconcile();
    await service.stop(); // what it reads meanwhile would not be of the copy
    shop.pass(70 * dayMs);
    await replaceStore(stage, copy);
    await giveDueCredits(db, stripe.nowMs());
    const once = ["300 credits of the month, Team"];
    expect(await ledgerOf(buyer)).toEqual(once);
    expect(await ledgerOf(free)).toEqual(times(3, studio));
    await shop.reconcile();
    await service.run();
    await pass(40);
    expect(await ledgerOf(buyer)).toEqual(once);
  });

  it("of months that were missed come before a licence ends, or an operator gives another plan", async () => {
    const { buyer, subscription } = await buyLicence("price_team");
    const given = await shop.admit("--plan", "studio");
    await service.stop();
    shop.pass(100 * dayMs);
    stripe.end(subscription);
    await shop.reconcile(buyer.email);
    expect(await ledgerOf(buyer)).toEqual(times(4, "300 credits of the month, Team"));
    await service.adminJson("account", "set", given.email, "--plan", "hobby");
    expect(await ledgerOf(given)).toEqual(times(4, studio));
    await service.run();
    await pass(40);
    expect(await ledgerOf(buyer)).toHaveLength(4);
    expect(await ledgerOf(given)).toHaveLength(4);
  });

  it("of months that were missed are those of the plan that was had then, where the next has the same months", async () => {
    const year = stripe.prices.get("price_team") ?? expect.fail("no price");
    stripe.prices.set("price_lesser", { ...year, id: "price_lesser", unit_amount: 50_000 });
    await service.adminJson(..."plan set lesser --title Lesser --credits 50 --price price_lesser".split(" "));
    const { buyer, subscription } = await buyLicence("price_team");
    await service.stop();
    shop.pass(40 * dayMs);
    stripe.switchPrice(subscription, "price_lesser");
    stripe.takeEvents();
    await shop.reconcile(buyer.email);
    expect(await ledgerOf(buyer)).toEqual(times(2, "300 credits of the month, Team"));
    await service.run();
  });

  it("are in the balance with what an operator sets, and not above the highest", async () => {
    const account = await shop.admit("--plan", "hobby", "--credits", "999999999990");
    await service.adminJson("account", "set", account.email, "--plan", "studio");
    expect(await shop.termsOf(account)).toMatchObject({ credits: 1e12 });
    const set = await shop.admit("--plan", "hobby");
    await service.adminJson("account", "set", set.email, "--plan", "studio", "--credits", "7");
    expect(await shop.termsOf(set)).toMatchObject({ credits: 7 });
  });

  it("of a plan that cannot be read come later, and those of the others in time", async () => {
    await service.adminJson(..."plan set broken --credits 5".split(" "));
    const [one, other] = [await shop.admit("--plan", "broken"), await shop.admit("--plan", "studio")];
    await stage.query("UPDATE plans SET limits = '{\"assistants\":-1}' WHERE name = 'broken'");
    shop.pass(32 * dayMs);
    await eventually(async () => expect(await ledgerOf(other)).toEqual(times(2, studio)));
    await stage.query("UPDATE plans SET limits = '{}' WHERE name = 'broken'");
    await pass(1);
    expect(await ledgerOf(one)).toEqual(times(2, "5 credits of the month, Broken"));
    // All earlier lines are in the log once a later one is.
    await service.ask("/api/health", { headers: { "x-request-id": "later-than-errors" } });
    await eventually(() => expect(service.log).toContain("later-than-errors"));
    expect(new Set(service.takeErrors())).toEqual(new Set(["a plan could not be read"]));
  });
});
