import { beforeEach, describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { documentedRefusal } from "@/tests/support/documented";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { type Buyer, openShop } from "@/tests/support/shop";

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

describe.each(engines)("the end of a licence, on $name", async (engine) => {
  const shop = await startShop(engine);
  let buyer: Buyer;
  let subscription: string;
  beforeEach(async () => {
    ({ buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01"));
  });

  /** The mails about the licence, once what might mend what they tell has had its five minutes. */
  async function mailed() {
    shop.pass(5 * 60_000);
    await shop.sendDue();
    const mails = await mailsTo(shop.service.dataDir, buyer.email);
    return mails.filter(({ subject = "" }) => /plan|paid|payment/i.test(subject));
  }
  const subjects = async () => (await mailed()).map(({ subject }) => subject);
  const periodEndMs = () => (shop.stripe.itemOf(subscription).current_period_end ?? 0) * 1000;
  const passTo = (ms: number) => shop.pass(ms - shop.stripe.nowMs());
  const end = async () => {
    shop.stripe.end(subscription);
    await shop.deliverAll();
  };
  const failRenewal = async () => {
    passTo(periodEndMs());
    shop.stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
  };
  /** What the API answers to the owner's apps. */
  const entitlement = async () => {
    const headers = { authorization: `Bearer ${await shop.service.token(buyer.email)}` };
    const { status, text } = await shop.service.ask("/api/entitlement", { headers });
    return { httpStatus: status, ...JSON.parse(text) };
  };

  it("is told on the page, to apps and by mail as that of a licence, with its day", async () => {
    passTo(periodEndMs());
    await end();
    const ended = `ended on ${day.format(shop.stripe.nowMs())}`;
    const [mail, ...others] = await mailed();
    expect([mail?.subject, others]).toEqual([`Your plan ${ended}`, []]);
    for (const words of [
      "Your assistants pause",
      "Nothing is lost",
      "Choose a plan",
      "€49 a month",
      "/home/billing",
    ])
      expect(mail?.text).toContain(words);

    const message = `The plan of this account ${ended}.`;
    const hint = `Your assistants are paused, and nothing is lost. Get a plan at ${shop.service.url}/home/billing; they run again as soon as you have one.`;
    const error = { code: "trial_ended", message, hint };
    expect(await entitlement()).toMatchObject({ httpStatus: 403, status: "trial-ended", message, error });

    const browser = await Browser.signIn(shop.service, buyer.email);
    const page = (await browser.open("/home")).text;
    expect(page).toContain(`<h1>Your plan ${ended}</h1>`);
    expect(page).not.toContain("trial");
    const cookie = `__session=${await shop.service.token(buyer.email)}`;
    const program = await shop.service.ask("/home", { headers: { cookie } });
    expect(program.text).toContain(`<h1>Your plan ${ended}</h1>`);
    const explained = await shop.service.adminJson<{ apps: string }>("explain", buyer.email);
    expect(explained.apps).toContain(`The API answers trial-ended. ${message} `);
  });

  it("is told as the trial's once a later trial has ended", async () => {
    await end();
    const tomorrow = new Date(shop.stripe.nowMs() + dayMs).toISOString();
    await shop.service.adminJson("account", "set", buyer.email, "--plan", "trial", "--trial-ends", tomorrow);
    const home = await buyer.browser.open("/home");
    expect(home.text).toContain(
      `<h1>Your trial ends on ${day.format(shop.stripe.nowMs() + dayMs).replace(/ \d+$/, "")}</h1>`,
    );
    shop.pass(2 * dayMs);
    const { message, error } = await entitlement();
    expect(message).toBe("The trial of this account has ended.");
    expect(error, "as the documents say").toEqual(await documentedRefusal(shop.service, "403 trial_ended"));
  });

  it("has the day on which the company stopped, also once Stripe gives up and ends it", async () => {
    await failRenewal();
    expect(await subjects()).toEqual(["Your payment of €49 failed"]);
    shop.pass(5 * dayMs);
    shop.stripe.change(subscription, { status: "unpaid" });
    await shop.deliverAll();
    const on = day.format(shop.stripe.nowMs());
    const stopped = `Not paid: your assistants stopped on ${on}`;
    expect(await subjects()).toEqual(["Your payment of €49 failed", stopped]);
    for (const [goOn, heading] of [
      [() => shop.stripe.change(subscription, { status: "past_due" }), stopped],
      [end, `Your plan ended on ${on}`],
    ] as const) {
      shop.pass(20 * dayMs);
      await goOn();
      await shop.deliverAll();
      const { text } = await (await Browser.signIn(shop.service, buyer.email)).open("/home");
      expect(text).toContain(`<h1>${heading}</h1>`);
    }
    expect(await subjects()).toHaveLength(2);
  });

  it("is not mailed if the owner has a licence again within five minutes", async () => {
    await end();
    shop.pass(4 * 60_000);
    await shop.sendDue();
    await shop.buy(buyer);
    await shop.deliverAll();
    expect(await mailed()).toEqual([]);
  });

  it("is mailed three days before if it was cancelled, once", async () => {
    shop.stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    passTo(periodEndMs() - 3 * dayMs - 6 * 60_000);
    expect(await mailed()).toEqual([]);
    const [mail, ...others] = await mailed();
    expect([mail?.subject, others]).toEqual([expect.stringMatching(/^Your plan ends on .+ UTC$/), []]);
    expect(mail?.text).toMatch(/^Plan: Office licence\nCost: Nothing now.+\nIf you keep it: €49 a month, /m);
    shop.pass(dayMs);
    await shop.reconcile();
    expect(await mailed()).toHaveLength(1);
  });

  it("is announced at a failed payment with the amount, the plan, the next charge, and what to press", async () => {
    await failRenewal();
    const chargedMs = shop.stripe.nowMs() + 3 * dayMs;
    const [{ text = "", html = "" } = {}] = await mailed();
    expect(text).toMatch(
      /^Your assistants go on working meanwhile\.\n\nPlan: Office licence\nCost: €49, and nothing on top\n/,
    );
    expect(text).toMatch(new RegExp(`\nWe try again: \\w+,? ${day.format(chargedMs)} at [\\d:]+ UTC\n`));
    expect(text).toMatch(/^Pay €49:\nhttp:\S+\/home\/billing$/m);
    expect(html).toMatch(/<a href="http:[^"]+\/home\/billing"[^>]*>Pay €49<\/a>/);
    buyer.browser = await Browser.signIn(shop.service, buyer.email);
    const { text: page } = await buyer.browser.open("/home/billing");
    expect(page, "there is what the mail says to press").toContain(">Pay €49</button>");
  });

  it.each([
    ["has none", () => null],
    ["had one a minute ago", () => Math.floor(shop.stripe.nowMs() / 1000) - 60],
  ])("is announced without a date of the next charge where Stripe %s", async (_, attempt) => {
    passTo(periodEndMs());
    shop.stripe.renew(subscription, { isPaid: false });
    for (const invoice of shop.stripe.invoices.values()) invoice.next_payment_attempt = attempt();
    await shop.deliverAll();
    const [mail] = await mailed();
    expect(mail?.text).not.toContain("We try again");
  });

  it("is announced at a failed payment, once a period, with the day on which the company stops", async () => {
    for (const periods of [1, 2]) {
      const startMs = periodEndMs();
      await failRenewal();
      for (let n = 0; n < 2; n++) {
        await shop.reconcile();
        expect(await subjects()).toEqual(Array.from({ length: periods }, () => "Your payment of €49 failed"));
      }
      const { text } = (await mailed()).at(-1) ?? {};
      const stop = day.format(startMs + 14 * dayMs);
      expect(text).toMatch(new RegExp(`Assistants stop: \\w+,? ${stop} at`));
      shop.stripe.payOpen(subscription);
      await shop.deliverAll();
    }
  });

  it("is not announced if the payment came within five minutes", async () => {
    await failRenewal();
    shop.pass(4 * 60_000);
    await shop.sendDue();
    shop.stripe.payOpen(subscription);
    await shop.deliverAll();
    expect(await mailed()).toEqual([]);
  });

  it("asks to pay the invoice while Stripe still has one open", async () => {
    await failRenewal();
    shop.pass(14 * dayMs);
    await shop.reconcile();
    const [mail] = await mailed();
    expect(mail?.text).toContain("Your plan goes on as soon as the last invoice is paid");
    const { error } = await entitlement();
    expect(error.hint).toContain(
      `Pay the last invoice at ${shop.service.url}/home/billing, and they run again at once.`,
    );
  });

  it("is announced for each invoice that is overdue, also where one is paid while the next is overdue", async () => {
    const overdue = async () => {
      shop.pass(5 * 60_000);
      await shop.sendDue();
      const mails = await mailsTo(shop.service.dataDir, buyer.email);
      return mails.filter(({ subject }) =>
        /^Your invoice of €\d+( in 2 invoices)? is overdue$/.test(subject ?? ""),
      ).length;
    };
    const tell = async () => {
      shop.stripe.change(subscription, { status: "past_due" });
      await shop.deliverAll();
    };
    const customer = String(shop.stripe.subscriptions.get(subscription)?.customer);
    shop.stripe.end(subscription);
    subscription = shop.stripe.makeSubscription(customer, "price_month", {}, { daysUntilDue: 5 });
    await shop.deliverAll();
    const first = [...shop.stripe.invoices.values()].at(-1) ?? expect.fail("no invoice");
    shop.pass(5 * dayMs);
    await tell();
    expect(await overdue()).toBe(1);
    passTo(periodEndMs());
    shop.stripe.renew(subscription, { isPaid: false });
    await tell();
    shop.pass(6 * dayMs);
    shop.stripe.payInvoice(first, first.amount_remaining);
    for (let n = 0; n < 2; n++) {
      await tell();
      expect(await overdue()).toBe(2);
    }
  });
});

it("the end of a licence says that the company goes on, where the hobby plan comes after it", async () => {
  const [engine = expect.fail("there is no engine")] = engines;
  const shop = await openShop(engine, { LAPSED_PLAN: "hobby" });
  const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
  shop.stripe.end(subscription);
  await shop.deliverAll();
  shop.pass(5 * 60_000);
  await shop.sendDue();
  const mail = (await mailsTo(shop.service.dataDir, buyer.email)).find(({ subject = "" }) =>
    subject.startsWith("Your plan ended on"),
  );
  expect(mail?.text).toContain("Your company goes on with the free hobby plan");
  expect(mail?.text).not.toContain("assistants pause");
  await shop.close();
});
