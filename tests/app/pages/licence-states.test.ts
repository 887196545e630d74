import { beforeEach, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { type Buyer, openShop, sessionIn } from "@/tests/support/shop";

const ended = ["--trial-ends", "2026-01-01"];

describe.each(engines)("a licence in each state at Stripe, on $name", async (engine) => {
  const shop = await startShop(engine, {
    STRIPE_LICENCE_PRICES: "price_month,price_team",
    SUPPORT_EMAIL: "help@example.com",
  });
  const { stripe, service } = shop;
  addPrice("price_small", "5", 5900);
  beforeEach(() => {
    stripe.takeEvents();
    stripe.faultOf = () => "none";
  });

  /** Adds a price of the product that we sell. */
  function addPrice(id: string, assistant_limit: string, unit_amount: number): void {
    const one = { ...stripe.prices.get("price_more"), id, unit_amount, metadata: { assistant_limit } };
    stripe.prices.set(id, one as never);
  }
  const page = async (buyer: Buyer, path = "/home") => {
    buyer.browser = await Browser.signIn(service, buyer.email);
    return (await buyer.browser.open(path)).text.replaceAll("’", "'");
  };
  const pages = async (buyer: Buyer) =>
    `${await page(buyer)}${(await buyer.browser.open("/home/billing")).text}`;
  const limit = async (buyer: Buyer) => (await shop.termsOf(buyer)).assistantLimit;
  const plan = async (buyer: Buyer) => (await shop.termsOf(buyer)).plan;
  const pass = async (days: number) => {
    shop.pass(days * dayMs);
    await shop.reconcile();
  };
  const customerOf = async (buyer: Buyer) => {
    await shop.begin(buyer);
    return [...stripe.customers].find(([, { account }]) => account === buyer.id)?.[0] ?? "";
  };
  /** Adds an account for which a subscription was made in the dashboard. */
  async function admitWith(how: Parameters<typeof stripe.makeSubscription>[3], ...terms: string[]) {
    const buyer = await shop.admit(...(terms.length > 0 ? terms : ended));
    const subscription = stripe.makeSubscription(await customerOf(buyer), "price_month", {}, how);
    await shop.deliverAll();
    return { buyer, subscription };
  }
  const checkOut = (buyer: Buyer, licence = "price_month") =>
    buyer.browser.submit("/home/checkout", { account: buyer.id, licence });
  /** While the days that all tests here pass are fewer than two years: then a mail is deleted at once (`mailsTo`). */
  const subjects = async ({ email }: Buyer) => {
    shop.pass(5 * 60_000);
    await shop.sendDue();
    const mails = await mailsTo(service.dataDir, email);
    return mails
      .map(({ subject = "" }) => subject)
      .filter((subject) => /plan|payment|invoice|free trial/.test(subject));
  };

  it("contains what it did before an upgrade that is not paid, whatever becomes of that", async () => {
    for (const isHeard of [true, false]) {
      const { buyer, subscription } = await shop.admitLicensed(...ended);
      stripe.switchPrice(subscription, "price_small");
      if (isHeard) await shop.deliverAll();
      shop.pass(10 * dayMs);
      stripe.switchPrice(subscription, "price_team", { isPaid: false });
      await shop.deliverAll();
      expect([await plan(buyer), await limit(buyer)], "with Stripe's invoice").toEqual(["licensed", 5]);
      const text = await pages(buyer);
      expect(text).toContain("You still have the plan that you had before.");
      expect(text).toMatch(/for the change to Team licence, €990 a year, less €[\d.]+ that you had paid/);
      expect(text).not.toContain("<strong>Team licence</strong>");
      expect(await subjects(buyer)).toEqual([
        expect.stringMatching(/^The payment of €[\d.]+ for your change failed$/),
      ]);
      stripe.change(subscription, { status: "unpaid" });
      await shop.deliverAll();
      expect([await plan(buyer), await limit(buyer)], "the month was paid").toEqual(["licensed", 5]);
      await pass(20.01);
      expect(await plan(buyer)).toBe("trial");
      stripe.payOpen(subscription);
      await shop.deliverAll();
      expect([await plan(buyer), await limit(buyer)], "paid after all").toEqual(["licensed", 25]);
    }
  });

  it("contains what it did before an unpaid upgrade under later invoices too, until the upgrade is paid", async () => {
    for (const isHeard of [true, false]) {
      const { buyer, subscription } = await shop.admitLicensed(...ended);
      const hear = async () => (isHeard ? shop.deliverAll() : void stripe.takeEvents());
      const invoiceFor = (reason: string) =>
        [...stripe.invoices.values()].findLast(
          ({ parent, billing_reason }) =>
            billing_reason === reason && parent?.subscription_details.subscription === subscription,
        ) ?? expect.fail("no invoice");
      addPrice("price_big", "50", 9900);
      stripe.switchPrice(subscription, "price_small");
      await hear();
      shop.pass(10 * dayMs);
      stripe.switchPrice(subscription, "price_big", { isPaid: false });
      await hear();
      const change = invoiceFor("subscription_update");
      shop.pass(20 * dayMs);
      stripe.renew(subscription, { isPaid: false });
      for (const status of ["draft", "open"] as const) {
        invoiceFor("subscription_cycle").status = status;
        stripe.change(subscription, {});
        await shop.deliverAll();
        expect([await plan(buyer), await limit(buyer)], status).toEqual(["licensed", 5]);
      }
      stripe.payInvoice(change, change.amount_remaining);
      stripe.change(subscription, {});
      await shop.deliverAll();
      expect([await plan(buyer), await limit(buyer)]).toEqual(["licensed", 50]);
      expect(await pages(buyer)).toContain("Payment failed: your assistants stop on");
    }
  });

  it("keeps what a later period has settled when another change or renewal is not paid", async () => {
    addPrice("price_big", "50", 9900);
    const settlements = {
      "a renewal that was paid": (id: string) => stripe.renew(id),
      "a renewal that was written off": (id: string) => {
        stripe.renew(id, { isPaid: false });
        const { latest_invoice } = stripe.subscriptions.get(id) ?? {};
        Object.assign(stripe.invoices.get(latest_invoice ?? "") ?? {}, { status: "uncollectible" });
        stripe.change(id, { status: "active" });
      },
    };
    for (const [how, settle] of Object.entries(settlements)) {
      for (const isHeard of [true, false]) {
        const { buyer, subscription } = await shop.admitLicensed(...ended);
        const hear = async () => (isHeard ? shop.deliverAll() : void stripe.takeEvents());
        stripe.switchPrice(subscription, "price_small");
        await shop.deliverAll();
        shop.pass(10 * dayMs);
        stripe.switchPrice(subscription, "price_big", { isPaid: false });
        await shop.deliverAll();
        shop.pass(20 * dayMs);
        settle(subscription);
        await hear();
        shop.pass(20 * dayMs);
        stripe.switchPrice(subscription, "price_team", { isPaid: false });
        await shop.deliverAll();
        expect([await plan(buyer), await limit(buyer)], how).toEqual(["licensed", 50]);
        shop.pass(10 * dayMs);
        await shop.reconcile();
        expect([await plan(buyer), await limit(buyer)], `${how}, in grace`).toEqual(["licensed", 50]);
      }
      const { buyer, subscription } = await shop.admitLicensed(...ended);
      stripe.switchPrice(subscription, "price_big", { isPaid: false });
      shop.pass(30 * dayMs);
      settle(subscription);
      shop.pass(30 * dayMs);
      stripe.renew(subscription, { isPaid: false });
      await shop.deliverAll();
      expect([await plan(buyer), await limit(buyer)], `${how}, then none`).toEqual(["licensed", 50]);
    }
  });

  it("does not give an upgrade whose invoice was voided, and gives the next period what that pays", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.switchPrice(subscription, "price_small");
    await shop.deliverAll();
    addPrice("price_big", "50", 9900);
    addPrice("price_huge", "60", 19_900);
    for (const price of ["price_big", "price_huge"]) {
      stripe.switchPrice(subscription, price, { isPaid: false });
      await shop.deliverAll();
    }
    stripe.voidOpen(subscription);
    await shop.deliverAll();
    expect(await limit(buyer)).toBe(5);
    await pass(1);
    expect(await limit(buyer), "nor what the first change that was not paid would give").toBe(5);
    shop.pass(29 * dayMs);
    stripe.renew(subscription);
    await shop.deliverAll();
    expect(await limit(buyer)).toBe(60);
    // A renewal that fails after a failed change still has what was paid last.
    shop.pass(dayMs);
    stripe.switchPrice(subscription, "price_team", { isPaid: false });
    shop.pass(29 * dayMs);
    await shop.deliverAll();
    expect(await limit(buyer)).toBe(60);
  });

  it("is not given a year whose invoice was voided, however often it is read", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    shop.pass(dayMs);
    stripe.switchPrice(subscription, "price_team", { isPaid: false });
    await shop.deliverAll();
    stripe.voidOpen(subscription);
    for (const days of [0, 1, 27]) {
      await pass(days);
      expect(await plan(buyer), "the month was paid").toBe("licensed");
    }
    await pass(15.1);
    expect(await plan(buyer)).toBe("trial");
  });

  it("that was returned is not given back by a year that is not paid", async () => {
    for (const isReturnedFirst of [true, false]) {
      const { buyer, subscription } = await shop.admitLicensed(...ended);
      shop.pass(dayMs);
      const acts = [
        () => stripe.refundCharge(stripe.chargeOf(subscription)),
        () => stripe.switchPrice(subscription, "price_team", { isPaid: false }),
      ];
      for (const act of isReturnedFirst ? acts : acts.toReversed()) {
        act();
        await shop.deliverAll();
      }
      expect(await plan(buyer)).toBe("trial");
      stripe.change(subscription, { status: "unpaid" });
      await pass(1);
      expect(await plan(buyer), "read again").toBe("trial");
      stripe.payOpen(subscription);
      await shop.deliverAll();
      expect([await plan(buyer), await limit(buyer)]).toEqual(["licensed", 25]);
    }
  });

  it("goes on for a price that is no longer sold, with what it contained, and no second one is sold", async () => {
    const prices = { STRIPE_LICENCE_PRICES: "price_month,price_team" };
    const other = await openShop(engine, prices, { isAlone: true });
    const { buyer, subscription } = await other.admitLicensed(...ended);
    other.stripe.switchPrice(subscription, "price_team");
    await other.deliverAll();
    await other.service.stop();
    // An archived price of another product, whose metadata was tidied up once it was no longer sold.
    const team = other.stripe.prices.get("price_team");
    Object.assign(team ?? {}, { active: false, metadata: {}, product: { ...team?.product, id: "prod_old" } });
    other.service.environment.STRIPE_LICENCE_PRICES = "price_month";
    await other.service.run();
    other.pass(dayMs);
    await other.reconcile();
    expect(await other.termsOf(buyer)).toMatchObject({ plan: "licensed", assistantLimit: 25 });
    await other.service.admin("plan", "set", "team-licence", "--price", "none");
    buyer.browser = await Browser.signIn(other.service, buyer.email);
    const { text } = await buyer.browser.open("/home/billing");
    expect(text).toContain("Up to 25 assistants");
    expect(text).not.toContain("Buy Office");
    const again = await buyer.browser.submit("/home/checkout", { account: buyer.id, licence: "price_month" });
    expect(again.headers.location).toBe("/home/billing?checkout=licensed");
    const { stdout } = await other.service.admin("check");
    expect(stdout).toContain("no longer sold, and still paid: price_team");
    await other.close();
  });

  it("contains what a price did that was sold, although no one had paid it when it left the settings", async () => {
    const other = await openShop(engine, { STRIPE_LICENCE_PRICES: "price_month,price_team" });
    const team = other.stripe.prices.get("price_team");
    Object.assign(team ?? {}, { product: { ...team?.product, id: "prod_team" } });
    const { buyer, subscription } = await other.admitLicensed(...ended);
    await other.reconcile();
    await other.service.stop();
    other.service.environment.STRIPE_LICENCE_PRICES = "price_month";
    await other.service.run();
    other.stripe.switchPrice(subscription, "price_team");
    await other.deliverAll();
    expect(await other.termsOf(buyer)).toMatchObject({ plan: "licensed", assistantLimit: 25 });
    await other.close();
  });

  it("that was returned says what runs at Stripe, and is bought again in its place", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.refundCharge(stripe.chargeOf(subscription));
    await shop.deliverAll();
    expect(await page(buyer)).toContain(
      "Your last payment went back to you, by a refund or by your bank. Your assistants are paused, and nothing is lost. Pay again, and they run again at once: the old plan ends first, so you never pay for two.",
    );
    const text = await page(buyer, "/home/billing");
    for (const words of [
      "<dt>To run again</dt><dd>€49 a month <small>charged today, when you pay again; the old plan ends",
      "for the old plan: not charged if you pay again, or cancel it",
      "Cancel it at Stripe",
      "Manage billing",
      "Pay again: €49 a month",
    ])
      expect(text).toContain(words);
    expect(text).toContain('<h3>Office licence</h3><span class="tag">Your plan, payment returned</span>');
    expect(text).toContain("your old one is ended first, so you never pay for two.");
    const session = sessionIn(await checkOut(buyer));
    expect(stripe.subscriptions.get(subscription)?.status).toBe("canceled");
    stripe.pay(session);
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
  });

  it("whose first payment is not finished gives nothing, and is finished or begun anew", async () => {
    const { buyer, subscription } = await admitWith({ isIncomplete: true }, "--trial-days", "6");
    const home = await page(buyer);
    expect(home).toContain(
      "Your first payment for a plan did not go through: your card was declined, or your bank asks you to confirm it. Finish it, or choose another plan.",
    );
    expect(home).toContain("<dt>Plan</dt><dd>Trial ");
    const billing = await page(buyer, "/home/billing");
    expect(billing).toContain("Pay for it above");
    expect(home + billing).not.toContain("Payment due");
    const bystander = await admitWith({ isIncomplete: true });
    const finish = await buyer.browser.submit("/home/portal", { account: buyer.id, for: "unfinished" });
    expect(finish.text, "their own, not the newest one").toContain(
      `${stripe.url}/invoice/${stripe.subscriptions.get(subscription)?.latest_invoice}`,
    );
    sessionIn(await checkOut(buyer));
    expect(stripe.subscriptions.get(subscription)?.status).toBe("incomplete_expired");
    expect(stripe.subscriptions.get(bystander.subscription)?.status).toBe("incomplete");
    expect(stripe.invoices.get(stripe.subscriptions.get(subscription)?.latest_invoice ?? "")?.status).toBe(
      "void",
    );
    await shop.deliverAll();
    expect(await page(buyer, "/home/billing"), "it never began").not.toMatch(/plan ended on|Last plan/);
    await pass(7);
    const ended = await pages(buyer);
    expect(ended).toContain("Your trial ended on ");
    expect(ended).not.toMatch(/plan ended on|Office licence <small>|<dt>(?:You tried|Last plan)<\/dt>/);
  });

  it("whose first payment is at a bank says so, asks for nothing, and is not sold twice", async () => {
    const { buyer, subscription } = await admitWith({ isIncomplete: true });
    expect(await page(buyer)).toContain("Your payment is not finished");
    stripe.askBank(subscription);
    stripe.change(subscription, {});
    await shop.deliverAll();
    const said = await pages(buyer);
    expect(said).toContain("Your bank is paying for your plan");
    expect(said).toContain("It may take two weeks: do not buy it again.");
    expect(said).not.toMatch(
      /You pay now<\/dt><dd>€|not finished|did not go through|Finish the payment|Buy Office licence/,
    );
    expect((await checkOut(buyer)).headers.location).toBe("/home/billing?checkout=licensed");
    expect((await buyer.browser.open("/home/billing?checkout=licensed")).text).toContain(
      "Stripe has not confirmed your payment yet.",
    );
    expect(stripe.subscriptions.get(subscription)?.status, "it is not ended").toBe("incomplete");
    const invoice = stripe.subscriptions.get(subscription)?.latest_invoice ?? "";
    expect(stripe.invoices.get(invoice)?.status).toBe("open");
    stripe.intents.clear(); // the bank refuses
    stripe.change(subscription, {});
    await shop.deliverAll();
    expect(await pages(buyer)).toContain("did not go through");
    stripe.askBank(subscription);
    stripe.finishProcessing(invoice);
    stripe.change(subscription, { status: "active" });
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
  });

  it("whose first payment was finished meanwhile is not ended by beginning anew", async () => {
    const { buyer, subscription } = await admitWith({ isIncomplete: true });
    buyer.browser = await Browser.signIn(service, buyer.email);
    stripe.faultOf = (request) => {
      // It is paid after it was read, at the last moment.
      if (request.endsWith("/void")) stripe.payOpen(subscription);
      return "none";
    };
    await checkOut(buyer);
    expect(stripe.subscriptions.get(subscription)?.status).toBe("active");
    stripe.faultOf = () => "none";
    expect((await checkOut(buyer)).headers.location).toBe("/home/billing?checkout=licensed");
    expect(await plan(buyer)).toBe("licensed");
  });

  it("that is paused runs to the end of what was paid, and says so", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.pause(subscription);
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
    const text = await pages(buyer);
    expect(text).toContain("Your plan pauses on");
    expect(text).toContain(
      "Your plan is paused at Stripe, from the day on which the time you paid for ends. Your assistants work until then, and nothing is charged. If you paused it, resume it there; if not, ",
    );
    expect(text).not.toMatch(/payment failed|Pay the invoice/);
    await pass(30.01);
    expect(await plan(buyer)).toBe("trial");
    const after = await page(buyer);
    expect(after).toContain("Your plan was paused on");
    expect(after.replaceAll(/<[^>]*>/g, "")).toContain(
      "Your plan is paused at Stripe. If you paused it, resume it there; if not, write to help@example.com. Or choose another one.",
    );
    const [, mail] = await subjects(buyer);
    expect(mail).toBeUndefined();
    expect(after).not.toContain("Pay the last invoice");
  });

  it("whose pause is planned says from when and until when, and that nothing is charged meanwhile", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.schedulePause(subscription, stripe.itemOf(subscription).current_period_end, 30);
    await shop.deliverAll();
    const text = await page(buyer, "/home/billing");
    expect(text).toContain("<dt>Next charge</dt><dd>Nothing <small>while your plan is paused");
    expect(text).toMatch(/<dt>Pauses on<\/dt><dd><time[^>]*>[^<]*<\/time> <small>until <time/);
    stripe.schedulePause(subscription, stripe.itemOf(subscription).current_period_end + 1, 30);
    shop.pass(2 * 60_000); // what is kept of its details
    expect(await page(buyer, "/home/billing"), "after the next charge").toMatch(
      /Next charge, on <time[^>]*>[^<]*<\/time><\/dt><dd>€49/,
    );
  });

  it("whose collection is paused runs, and says that nothing is charged", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.change(subscription, { pause_collection: { behavior: "void", resumes_at: null } });
    shop.pass(30 * dayMs);
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    const text = await pages(buyer);
    expect(text).toContain("Until they are resumed, you are charged nothing");
    expect(text).toContain(
      "<dt>Next charge</dt><dd>Nothing <small>€49 a month again, once payments are resumed",
    );
  });

  it("that is free at Stripe says until when, and without a card that the trial ended, not that a payment failed", async () => {
    for (const end of [
      (id: string) => stripe.pause(id, "trial_end_without_payment_method"),
      (id: string) => stripe.change(id, { status: "paused" }), // as earlier versions of the API say it
      (id: string) => stripe.end(id),
    ]) {
      const { buyer, subscription } = await admitWith({ trialDays: 7 });
      expect(await plan(buyer)).toBe("licensed");
      const free = await pages(buyer);
      expect(free).toContain("Your plan is free until");
      expect(free).toMatch(/Next charge, on <time[^>]*>[^<]*<\/time><\/dt><dd>€49/);
      shop.pass(7 * dayMs);
      end(subscription);
      await shop.deliverAll();
      expect(await plan(buyer)).toBe("trial");
      const text = await pages(buyer);
      expect(text).toContain("Your free trial ended on");
      expect(text).toContain("Buy Office licence");
      expect(text).not.toMatch(/payment failed|Pay the last invoice/);
      expect(await subjects(buyer)).toEqual([expect.stringMatching(/^Your free trial ended on/)]);
      sessionIn(await checkOut(buyer));
    }
  });

  it("that followed a free trial ended as a licence if it was ever paid, and otherwise as the trial", async () => {
    for (const isPaid of [true, false]) {
      const { buyer, subscription } = await admitWith({ trialDays: 7 });
      shop.pass(7 * dayMs);
      stripe.renew(subscription, { isPaid });
      await shop.deliverAll();
      stripe.end(subscription);
      await shop.deliverAll();
      expect((await page(buyer)).includes("Your free trial ended on")).toBe(!isPaid);
    }
  });

  it("that is billed by mail has its days to pay, and its grace after them", async () => {
    const { buyer, subscription } = await admitWith({ daysUntilDue: 30 });
    const invoiced = await pages(buyer);
    expect(invoiced).toContain("Your invoice came by mail. Pay by its due date.");
    expect(invoiced).toContain("Invoice due: pay it by ");
    shop.pass(30 * dayMs);
    stripe.change(subscription, { status: "past_due" });
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
    expect(await pages(buyer)).toContain("Invoice overdue: pay it by");
    expect(await subjects(buyer)).toEqual(["Your invoice of €49 is overdue"]);
    // A period that begins meanwhile, whose own invoice is not due, forgives nothing.
    stripe.renew(subscription, { isPaid: false });
    stripe.change(subscription, { status: "active" });
    await shop.deliverAll();
    await pass(13.9);
    expect(await plan(buyer)).toBe("licensed");
    await pass(0.2);
    expect(await plan(buyer)).toBe("trial");
    stripe.payOpen(subscription);
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
  });

  it.each(["paid", "void"] as const)(
    "that is billed by mail asks for nothing once its invoice is %s, of which the subscription says nothing",
    async (how) => {
      const { buyer, subscription } = await admitWith({ daysUntilDue: 30 });
      stripe.settleMailed(subscription, how);
      await shop.deliverAll();
      expect(await pages(buyer)).not.toContain("Invoice due: pay it by ");
    },
  );

  it("that is billed by mail runs for what was paid last, whatever is open of an earlier month", async () => {
    const { buyer, subscription } = await admitWith({ daysUntilDue: 7 });
    const bystander = await admitWith({ daysUntilDue: 7 });
    shop.pass(30 * dayMs);
    for (const { subscription: id } of [{ subscription }, bystander]) {
      stripe.renew(id, { isPaid: false });
      stripe.change(id, { status: "past_due" });
    }
    const { latest_invoice } = stripe.subscriptions.get(subscription) ?? {};
    const newest = stripe.invoices.get(latest_invoice ?? "") ?? expect.fail("no invoice");
    stripe.payInvoice(newest, newest.amount_remaining);
    stripe.change(subscription, { status: "active" });
    await shop.deliverAll();
    await pass(20);
    expect(await plan(buyer)).toBe("licensed");
    const text = await page(buyer, "/home/billing");
    expect(text).toContain("An earlier invoice is still open");
    expect(text).not.toContain("overdue");
    expect(await plan(bystander.buyer), "who paid neither").toBe("trial");
  });

  it("that is paused runs to the day its open invoice is due, however often it is read", async () => {
    const { buyer, subscription } = await admitWith({ daysUntilDue: 45 });
    stripe.change(subscription, { pause_collection: { behavior: "void", resumes_at: null } });
    shop.pass(30 * dayMs);
    stripe.renew(subscription, { isPaid: false });
    stripe.pause(subscription);
    await shop.deliverAll();
    await pass(14.9);
    expect(await plan(buyer)).toBe("licensed");
    await pass(0.2);
    expect(await plan(buyer), "the period that was not charged gives nothing more").toBe("trial");
  });

  /** Adds a licence that Stripe gave up after its first month, a month ago. */
  async function admitGivenUp() {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    shop.pass(30 * dayMs);
    stripe.renew(subscription, { isPaid: false });
    stripe.change(subscription, { status: "unpaid" });
    await shop.deliverAll();
    shop.pass(30 * dayMs);
    return { buyer, subscription };
  }

  it("that is paused runs to the end of what was paid, whatever is open of an earlier month", async () => {
    const { buyer, subscription } = await admitGivenUp();
    stripe.renew(subscription);
    await shop.deliverAll();
    stripe.pause(subscription);
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
    expect(await pages(buyer)).not.toContain("is due");
    await pass(30.01);
    expect(await plan(buyer)).toBe("trial");
  });

  // twentyhq/twenty#18770: who pays all that is open then stays stopped for ever.
  it("that Stripe gave up has its last invoice made payable, uncharged, when the owner is led to the portal", async () => {
    const { buyer, subscription } = await admitGivenUp();
    stripe.renew(subscription, { isPaid: false });
    stripe.payOpen(subscription);
    await shop.deliverAll();
    expect(await plan(buyer), "the last invoice is a draft").toBe("trial");
    const last = () => stripe.invoices.get(stripe.subscriptions.get(subscription)?.latest_invoice ?? "");
    const charged = stripe.charges.size;
    buyer.browser = await Browser.signIn(service, buyer.email);
    const press = async () => {
      const { text } = await buyer.browser.submit("/home/portal", { account: buyer.id });
      expect(text).toContain(`${stripe.url}/portal/`);
      return [last()?.status, stripe.charges.size];
    };
    Object.assign(last() ?? {}, { auto_advance: true });
    expect(await press(), "Stripe finalizes it within the hour").toEqual(["draft", charged]);
    Object.assign(last() ?? {}, { auto_advance: false });
    // Both have read the draft before either finalizes it, so Stripe refuses the second.
    const finalizing: (() => void)[] = [];
    stripe.faultOf = async (request): Promise<"none"> => {
      if (!request.endsWith("/finalize")) return "none";
      await new Promise<void>((resolve) => {
        if (finalizing.push(resolve) === 2) for (const go of finalizing) go();
      });
      return "none";
    };
    await Promise.all([press(), press()]);
    expect([finalizing.length, last()?.status, stripe.charges.size]).toEqual([2, "open", charged]);
    stripe.payOpen(subscription);
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
  });

  it("that is unpaid beside a gift says so, and calls nothing due", async () => {
    for (const status of ["past_due", "unpaid"] as const) {
      const { buyer, subscription } = await shop.admitLicensed(...ended);
      await service.adminJson("account", "set", buyer.email, "--plan", "licensed");
      stripe.change(subscription, { status });
      await shop.deliverAll();
      const text = await page(buyer);
      expect(text).not.toContain("Payment due");
      expect(text).toContain("you bought is not paid");
    }
  });

  it("that Stripe does not know is not said to be cancelled", async () => {
    const { buyer } = await shop.admitLicensed(...ended);
    stripe.isAnother = true;
    await pass(1);
    stripe.isAnother = false;
    const text = await pages(buyer);
    expect(text).toContain("Stripe does not know your plan any more.");
    expect(text).not.toContain("You cancelled");
  });

  it("says of credits what the bank has done about them", async () => {
    const { buyer } = await shop.admitLicensed(...ended);
    const begin = () => shop.begin(buyer, { credits: "price_pack" });
    const first = await begin();
    stripe.pay(first, { byBank: true });
    await shop.deliverAll();
    expect(await page(buyer, "/home/billing")).toContain("Your bank has not paid the 500 credits yet.");
    stripe.settleAtBank(first, false);
    await shop.deliverAll();
    expect(await page(buyer, "/home/billing")).toContain("Your bank did not pay the 500 credits.");
    stripe.pay(await begin());
    await shop.deliverAll();
    expect(await page(buyer, "/home/billing")).not.toContain("Your bank");
  });

  it("is not sold to an account that will be deleted, whose checkout ends at once or later", async () => {
    for (const isAway of [false, true]) {
      const buyer = await shop.admit(...ended);
      const session = await shop.begin(buyer);
      if (isAway) stripe.faultOf = () => "500";
      await buyer.browser.submit("/home/account/delete", { account: buyer.id });
      stripe.faultOf = () => "none";
      if (isAway) await shop.reconcile();
      expect(stripe.sessions.get(session)?.status).toBe("expired");
      const text = await page(buyer, "/home/billing");
      expect(text).toContain("Nothing is sold to an account that will be deleted.");
      expect(text).not.toContain("Buy ");
      const refused = await checkOut(buyer);
      expect([refused.status, JSON.parse(refused.text).error.message]).toEqual([
        400,
        "Nothing is sold to an account that will be deleted.",
      ]);
    }
  });

  it("is not sold to one who leaves after another left before Stripe had made their checkout", async () => {
    const [first, second] = [await shop.admit(...ended), await shop.admit(...ended)];
    stripe.faultOf = (request) => (request === "POST /v1/checkout/sessions" ? "reset" : "none");
    expect((await checkOut(first)).status).toBe(502);
    stripe.faultOf = () => "none";
    const session = await shop.begin(second);
    for (const { id, browser } of [first, second])
      await browser.submit("/home/account/delete", { account: id });
    expect(stripe.sessions.get(session)?.status).toBe("expired");
  });

  it("ends with an account that will be deleted, and is said to renew only if the account is kept", async () => {
    const { buyer } = await shop.admitLicensed(...ended);
    expect(await page(buyer, "/home/billing")).toContain("Next charge");
    await buyer.browser.submit("/home/account/delete", { account: buyer.id });
    for (const path of ["/home", "/home/billing"]) {
      const text = await page(buyer, path);
      expect(text).toContain("<dt>Next charge</dt><dd>Nothing <small>your plan ends with your account");
    }
  });

  it("that was cancelled for a later day says what is charged until then", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    const { current_period_end } = stripe.itemOf(subscription);
    stripe.change(subscription, { cancel_at: current_period_end + 45 * 86_400 });
    await shop.deliverAll();
    const words = async () => (await page(buyer, "/home/billing")).replace(/<[^>]*>/g, " ");
    expect(await words()).toMatch(/your plan ends on .*Next charge, on [\w ]+ UTC\s+€49/s);
    expect(await words()).not.toMatch(/if you keep the plan|Next charge\s+Nothing/);
    for (let months = 0; months < 2; months++) {
      shop.pass(30 * dayMs);
      stripe.renew(subscription);
      await shop.deliverAll();
    }
    expect(await words(), "in its last period").toMatch(/your plan ends on .*Next charge\s+Nothing/s);
  });

  it("that was cancelled ends on its own day, also with an account that will be deleted", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    await buyer.browser.submit("/home/account/delete", { account: buyer.id });
    expect(await page(buyer, "/home/billing")).not.toContain("with your account");
  });

  it("keeps what it contained in a month that an operator forgave when another change is not paid", async () => {
    addPrice("price_big", "50", 9900);
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.switchPrice(subscription, "price_big", { isPaid: false });
    stripe.change(subscription, { pause_collection: { behavior: "void", resumes_at: null } });
    shop.pass(30 * dayMs);
    stripe.renew(subscription);
    stripe.voidOpen(subscription);
    await shop.deliverAll();
    expect(await limit(buyer)).toBe(50);
    stripe.change(subscription, { pause_collection: null });
    shop.pass(20 * dayMs);
    stripe.switchPrice(subscription, "price_team", { isPaid: false });
    await shop.deliverAll();
    expect([await plan(buyer), await limit(buyer)]).toEqual(["licensed", 50]);
  });

  it("does not give an upgrade whose invoice was voided by the next period either, while that is not paid", async () => {
    addPrice("price_big", "50", 9900);
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.switchPrice(subscription, "price_small");
    await shop.deliverAll();
    stripe.switchPrice(subscription, "price_big", { isPaid: false });
    await shop.deliverAll();
    stripe.voidOpen(subscription);
    await shop.deliverAll();
    shop.pass(30 * dayMs);
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect([await plan(buyer), await limit(buyer)]).toEqual(["licensed", 5]);
    stripe.payOpen(subscription);
    await shop.deliverAll();
    expect(await limit(buyer)).toBe(50);
  });

  it("gives neither of two upgrades whose invoices were voided before anyone heard of them", async () => {
    addPrice("price_big", "50", 9900);
    addPrice("price_huge", "60", 19_900);
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    stripe.switchPrice(subscription, "price_small");
    await shop.deliverAll();
    for (const price of ["price_big", "price_huge"])
      stripe.switchPrice(subscription, price, { isPaid: false });
    stripe.voidOpen(subscription);
    await shop.deliverAll();
    expect(await limit(buyer)).toBe(5);
  });

  it("whose failed payment a bank is asked for again says so, and does not ask for it as well", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    shop.pass(30 * dayMs);
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect(await pages(buyer)).toContain("Payment failed: your assistants stop on");
    stripe.askBank(subscription);
    shop.pass(61 * 60_000); // what is not paid is read each hour
    await shop.reconcile();
    const said = await pages(buyer);
    expect(said).toContain("Your bank is paying. Until it has, your assistants work to");
    expect(said).toContain("It may take two weeks: do not pay it again.");
    expect(said).not.toMatch(/Payment failed|Pay or change the card|>Pay</);
    stripe.intents.clear(); // the bank refuses
    shop.pass(61 * 60_000);
    await shop.reconcile();
    expect(await pages(buyer)).toContain("Payment failed: your assistants stop on");
  });

  it("that ended while a bank was paying for it waits for the bank, and is not to be paid again", async () => {
    const { buyer, subscription } = await shop.admitLicensed(...ended);
    shop.pass(30 * dayMs);
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    await pass(13);
    stripe.askBank(subscription);
    await pass(0.1);
    expect(await page(buyer)).toContain("Your bank is paying. Until it has, your assistants work to");
    await pass(1);
    expect(await plan(buyer)).toBe("trial");
    const said = await pages(buyer);
    expect(said).toContain("Waiting for your bank: your assistants stopped on");
    expect(said).toContain(
      "They run again as soon as your bank has paid. It may take two weeks: do not pay it again.",
    );
    expect(said).toContain("You can change your plan once your bank has paid for it.");
    expect(said).toContain("<dt>You pay now</dt><dd>Nothing <small>your bank is paying for your plan");
    expect(said).not.toMatch(/Pay or change the card|Pay the last invoice|>Pay </);
    expect((await service.admin("explain", buyer.email)).stdout).toContain(
      "Payment: A bank was asked for a payment, and has not made it; it may take two weeks",
    );
    stripe.intents.clear();
    stripe.payOpen(subscription);
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("licensed");
  });

  it("that was returned in a trial is charged again after it, and the page says so", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-days", "6");
    stripe.refundCharge(stripe.chargeOf(subscription));
    await shop.deliverAll();
    expect(await plan(buyer)).toBe("trial");
    await pass(7);
    const home = await page(buyer);
    expect(home).toContain("Your trial ended on ");
    expect(home).toContain("for the old plan: not charged if you pay again, or cancel it");
    for (const text of [home, await page(buyer, "/home/billing")]) {
      expect(text).toContain("Pay again to go on with your plan, or cancel it at Stripe");
      expect(text).toContain("Cancel it at Stripe");
    }
    stripe.end(subscription);
    await shop.deliverAll();
    expect(await page(buyer)).toContain("<dt>You pay</dt><dd>Nothing <small>until you buy a plan");
  });
});

describe.each(engines)("a shop's own words, on $name", (engine) => {
  it("give the hobby plan after a licence its limit, and say what is refunded", async () => {
    const shop = await openShop(engine, {
      LAPSED_PLAN: "hobby",
      LAPSED_ASSISTANT_LIMIT: "2",
      REFUNDS: "We refund what you did not use.",
    });
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    expect((await buyer.browser.open("/home/account")).text).toContain("We refund what you did not use.");
    shop.stripe.end(subscription);
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "hobby", assistantLimit: 2 });
    await shop.close();
  });
});
