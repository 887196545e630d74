import { afterEach, describe, expect, it } from "vitest";
import { formatInstant } from "@/app/(pages)/instant";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { engines } from "@/tests/support/engines";
import type { Buyer } from "@/tests/support/shop";

describe.each(engines.slice(0, 1))("the invoices on /home/billing", async (engine) => {
  const shop = await startShop(engine);
  const { stripe } = shop;
  afterEach(() => {
    stripe.faultOf = () => "none";
  });

  /** The section of the invoices, `undefined` if the page has none. */
  const sectionFor = async ({ browser }: Buyer) => {
    await browser.post("/sign-in/renew");
    const { status, text } = await browser.open("/home/billing");
    expect(status).toBe(200);
    const [section] =
      /<section class="card" id="invoices" aria-labelledby="invoices-heading">.*?<\/section>/s.exec(text) ??
      [];
    return section?.replaceAll("<!-- -->", "");
  };
  /** What each invoice is for. */
  const namesFor = async (buyer: Buyer) =>
    [...((await sectionFor(buyer)) ?? "").matchAll(/<li><span>(.*?)<\/span>/gs)].map(([, name = ""]) =>
      name.replaceAll(/<[^>]*>/g, ""),
    );
  /** Each invoice in words, and then its links. */
  const invoicesFor = async (buyer: Buyer) =>
    [...((await sectionFor(buyer)) ?? "").matchAll(/<li>.*?<\/li>/gs)].map(([entry]) => {
      const links = [...entry.matchAll(/<a href="([^"]+)" rel="noopener noreferrer"[^>]*>(\w+)<\/a>/g)];
      expect(links, "each link has its words and is at Stripe").toHaveLength(entry.split("<a ").length - 1);
      const [, state] = /<em\b[^>]*>(.*?)<\/em>/.exec(entry) ?? [];
      const [, amount] = /<b>([^<]*)/.exec(entry) ?? [];
      return [state, amount, ...links.map(([, to, words]) => `${words} ${to}`)];
    });
  const pdfOf = (id: string) => `PDF https://pay.stripe.com/invoice/acct_standin/${id}/pdf?s=ap`;
  const newestOf = (customer: string) =>
    [...stripe.invoices.values()].findLast((one) => one.customer === customer) ?? expect.fail("no invoice");
  const admit = async () => {
    const admitted = await shop.admitLicensed("--trial-ends", "2026-01-01");
    const customer = String(stripe.subscriptions.get(admitted.subscription)?.customer);
    return { ...admitted, customer };
  };
  const listings = () => stripe.requests.filter((request) => request === "GET /v1/invoices").length;

  it("are those of licences and of credits, newest first, each with its day, amount, state and PDF", async () => {
    const [{ buyer, customer, subscription }, bystander] = [await admit(), await admit()];
    const licence = newestOf(customer);
    expect(await invoicesFor(buyer)).toEqual([["Paid", "€49", pdfOf(licence.id)]]);
    const bought = await shop.buy(buyer, { credits: "price_pack" });
    await shop.deliverAll();
    const pack = newestOf(customer);
    expect(await invoicesFor(buyer), "at once after the purchase").toEqual([
      ["Paid", "€10", pdfOf(pack.id)],
      ["Paid", "€49", pdfOf(licence.id)],
    ]);
    const day = new Date(licence.created * 1000).toISOString();
    expect(await sectionFor(buyer)).toContain(`<time dateTime="${day}" data-shows="date">`);
    stripe.refund(bought.session, 1000);
    stripe.refundCharge(stripe.chargeOf(subscription), 900);
    await shop.deliverAll();
    expect(await invoicesFor(buyer), "at once after the refunds").toEqual([
      ["Refunded", "€10", pdfOf(pack.id)],
      ["Partly refunded", "€49", pdfOf(licence.id)],
    ]);
    shop.pass(2 * dayMs);
    await shop.reconcile(); // which reads both in one round
    expect(await invoicesFor(buyer)).toHaveLength(2);
    expect(await invoicesFor(bystander.buyer), "another account has its own").toEqual([
      ["Paid", "€49", pdfOf(newestOf(bystander.customer).id)],
    ]);
  });

  it("say what is to pay, and are in the unit in which Stripe counts the currency", async () => {
    const { buyer, customer, subscription } = await admit();
    const [first] = [newestOf(customer)];
    stripe.renew(subscription, { isPaid: false });
    const open = newestOf(customer);
    Object.assign(open, {
      currency: "huf",
      total: 999_000,
      amount_remaining: 499_000,
      hosted_invoice_url: "https://invoice.stripe.com/i/acct_standin/test_x",
    });
    await shop.deliverAll();
    const paid = ["Paid", "€49", pdfOf(first.id)];
    expect(await invoicesFor(buyer)).toEqual([
      [
        ...["Unpaid, HUF\u00a04,990 to pay", "HUF\u00a09,990"],
        ...["Pay https://invoice.stripe.com/i/acct_standin/test_x", pdfOf(open.id)],
      ],
      paid,
    ]);
    for (const [changed, state] of [
      [{ status: "void" }, "Void, nothing to pay"],
      [{ status: "uncollectible" }, "Not paid, and written off"],
      [{ status: "paid", total: -120_000, amount_paid: 0 }, "Credited"],
    ] as const) {
      Object.assign(open, changed);
      shop.pass(6 * 60_000); // they are kept for five minutes
      const amount = open.total < 0 ? "−HUF\u00a01,200" : "HUF\u00a09,990";
      expect(await invoicesFor(buyer)).toEqual([[state, amount, pdfOf(open.id)], paid]);
    }
    Object.assign(open, { status: "draft" });
    shop.pass(6 * 60_000);
    expect(await invoicesFor(buyer), "a draft is none yet").toEqual([paid]);
  });

  it("say what Stripe does about an open one, also next to a licence that is paid", async () => {
    const [{ buyer, customer, subscription }, bystander] = [await admit(), await admit()];
    shop.pass(30 * dayMs);
    stripe.renew(subscription, { isPaid: false });
    const open = newestOf(customer);
    await shop.deliverAll();
    const words = async (who = buyer) => {
      who.browser = await Browser.signIn(shop.service, who.email);
      const { text } = await who.browser.open("/home/billing");
      return text.replace(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
    };
    const dayOf = (seconds: number) => formatInstant(seconds * 1000, "date", "UTC");
    const again = `Stripe charges it again on ${dayOf(open.created + 3 * 86_400)} UTC.`;
    const earlier = "An earlier invoice is still open: see Invoices.";
    expect(await words()).toContain("You pay now€49");
    expect(await words()).toContain(again);
    expect(await words(), "it is what is due").not.toContain(earlier);
    shop.pass(30 * dayMs);
    stripe.renew(subscription);
    await shop.deliverAll();
    expect(await words()).not.toContain("You pay now€");
    expect(await words()).toContain(again);
    expect(await words()).toContain(earlier);
    Object.assign(open, { next_payment_attempt: null });
    shop.pass(6 * 60_000); // they are kept for five minutes
    expect(await words()).toContain("Stripe does not charge it again by itself.");
    Object.assign(open, { due_date: open.created + 30 * 86_400 });
    shop.pass(6 * 60_000);
    expect(await words()).toContain(`It is due on ${dayOf(open.created + 30 * 86_400)} UTC.`);
    stripe.payOpen(subscription);
    await shop.deliverAll();
    expect(await words()).not.toContain(earlier);
    expect(await words(bystander.buyer)).not.toContain(earlier);
  });

  it("say of one that a bank is paying that it is not to be paid again", async () => {
    const { buyer, customer, subscription } = await admit();
    stripe.renew(subscription, { isPaid: false });
    stripe.change(subscription, { status: "active" });
    stripe.askBank(subscription);
    const open = newestOf(customer);
    await shop.deliverAll();
    const [first] = await invoicesFor(buyer);
    expect(first, "without a way to pay it").toEqual(["At your bank", "€49", pdfOf(open.id)]);
    expect(await sectionFor(buyer)).toContain("Your bank is paying it, which may take two weeks.");
    expect((await buyer.browser.open("/home/billing")).text).not.toContain(
      "An earlier invoice is still open",
    );
    stripe.finishProcessing(open.id);
    shop.pass(6 * 60_000); // they are kept for five minutes
    expect((await invoicesFor(buyer))[0]).toEqual(["Paid", "€49", pdfOf(open.id)]);
  });

  it("say of one that was left open that it does not bring back the plan that Stripe ended", async () => {
    const [{ buyer, customer, subscription }, other] = [await admit(), await admit()];
    const back = "It is for a plan that has ended: paying it does not bring that back.";
    const words = async () =>
      (await buyer.browser.open("/home/billing")).text.replace(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect(await words()).toContain("You pay now€49");
    expect(await words()).not.toContain(back);
    stripe.end(subscription);
    await shop.deliverAll();
    const open = newestOf(customer);
    expect((await invoicesFor(buyer))[0]?.slice(0, 2)).toEqual(["Unpaid", "€49"]);
    expect(await words()).toContain(back);
    expect(await words(), "nothing is due to go on").not.toContain("You pay now€");
    await shop.buy(buyer);
    await shop.deliverAll();
    expect(await words(), "also beside a new one").toContain(back);
    Object.assign(open, { parent: null });
    shop.pass(6 * 60_000);
    expect(await words(), "one of no subscription").not.toContain(back);
    expect((await other.buyer.browser.open("/home/billing")).text).not.toContain(back);
  });

  it("say what each is for and until when, also of a change and where Stripe has no lines", async () => {
    const { buyer, customer, subscription } = await admit();
    await shop.buy(buyer, { credits: "price_pack" });
    stripe.switchPrice(subscription, "price_team");
    const untilOf = (id: string) =>
      formatInstant((stripe.itemOf(id).current_period_end ?? 0) * 1000, "date", "UTC");
    await shop.deliverAll();
    const [change, pack, first = ""] = await namesFor(buyer);
    expect(change).toMatch(new RegExp(`^Change to Team licence, .+ UTC to ${untilOf(subscription)} UTC$`));
    expect(pack).toBe("500 credits");
    expect(first).toMatch(/^Office licence, \d+ \w+ \d{4} UTC to \d+ \w+ \d{4} UTC$/);
    newestOf(customer).lines.data = [];
    shop.pass(6 * 60_000);
    expect((await namesFor(buyer))[0]).toBe("Invoice");
  });

  it("link to no address that is not secure", async () => {
    const { buyer, customer, subscription } = await admit();
    stripe.renew(subscription, { isPaid: false });
    const open = newestOf(customer);
    Object.assign(open, {
      hosted_invoice_url: "javascript:alert(1)",
      invoice_pdf: "http://pay.stripe.com/x",
    });
    await shop.deliverAll();
    expect((await invoicesFor(buyer))[0]).toEqual(["Unpaid", "€49"]);
  });

  it("are the newest twelve, also behind drafts and many charges that failed", async () => {
    const { buyer, customer, subscription } = await admit();
    for (let n = 0; n < 11; n++) stripe.renew(subscription);
    const charge = stripe.chargeOf(subscription);
    stripe.refundCharge(charge);
    for (let n = 0; n < 120; n++) {
      const id = `ch_failed_${n}`;
      const failed = { ...charge, id, payment_intent: `pi_${id}`, status: "failed", amount_refunded: 0 };
      stripe.charges.set(id, failed as typeof charge);
    }
    await shop.deliverAll();
    const twelve = await invoicesFor(buyer);
    expect(twelve.map(([state]) => state)).toEqual(["Refunded", ...Array.from({ length: 11 }, () => "Paid")]);
    const hint = "The latest 12 invoices; “Manage billing” has the older ones.";
    expect(await sectionFor(buyer)).not.toContain("older ones");
    stripe.renew(subscription);
    newestOf(customer).status = "draft";
    stripe.renew(subscription);
    await shop.deliverAll();
    const newest = await invoicesFor(buyer);
    expect([newest.length, newest[0]]).toEqual([12, ["Paid", "€49", pdfOf(newestOf(customer).id)]]);
    expect(await sectionFor(buyer)).toContain(hint);
    for (let n = 0; n < 15; n++) {
      stripe.renew(subscription);
      newestOf(customer).status = "draft";
    }
    await shop.deliverAll();
    expect(await sectionFor(buyer)).toContain(hint.replace("12", "8"));
  });

  it("are none of an account that has bought nothing, for which Stripe is not asked", async () => {
    const before = listings();
    const newcomer = await shop.admit("--trial-ends", "2026-01-01");
    expect(await sectionFor(newcomer)).toBeUndefined();
    await shop.begin(newcomer); // a checkout makes a customer
    expect(await sectionFor(newcomer)).toBeUndefined();
    expect(listings()).toBe(before);
  });

  it("come with one call for all who ask, and without an answer in time the page says where they are", async () => {
    const { buyer } = await admit();
    const before = listings();
    await Promise.all([sectionFor(buyer), sectionFor(buyer), sectionFor(buyer)]);
    expect(listings() - before).toBe(1);
    for (const fault of ["silent", "500"] as const) {
      shop.pass(6 * 60_000);
      stripe.faultOf = (request) => (request === "GET /v1/invoices" ? fault : "none");
      const asked = listings();
      for (let n = 0; n < 2; n++)
        expect(await sectionFor(buyer)).toContain(
          "<p>We cannot show your invoices at the moment; “Manage billing” does.</p>",
        );
      expect(listings() - asked, "no page waits for it each time").toBe(1);
    }
    stripe.faultOf = () => "none";
    shop.pass(31_000);
    expect((await invoicesFor(buyer)).map(([state]) => state)).toEqual(["Paid"]);
  });
});
