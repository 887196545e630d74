import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { mailTo } from "@/tests/support/mailbox";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";

const ended = ["--trial-ends", "2026-01-01"];

describe.each(engines)("our price, sold without our checkout, on $name", async (engine) => {
  const shop = await startShop(engine, { OFFICE_PORT: String(await reservePort()) }, { isAlone: true });
  const { stripe } = shop;
  const invoiceOf = (customer: string) => ({
    ...(stripe.invoices.values().next().value ?? expect.fail("no invoice")),
    id: `in_of_${customer}`,
    customer,
    status: "open" as const,
    parent: null,
    intents: [],
  });
  const office = await OfficeBrowser.enrol(shop.service, "ann");

  it("by a Payment Link is given to the account with the email, in whatever case it was typed", async () => {
    const buyer = await shop.admit(...ended);
    const session = stripe.payLink(buyer.email.toUpperCase(), "price_month");
    await shop.deliverAll();
    expect((await shop.termsOf(buyer)).plan).toBe("licensed");
    const { customer } = stripe.sessions.get(session) ?? {};
    expect(stripe.customers.get(String(customer))?.metadata, "no customer of ours").toEqual({});
    const { text } = await buyer.browser.submit("/home/checkout", {
      account: buyer.id,
      licence: "price_month",
    });
    expect(text, "it is not sold twice").not.toContain("/pay/");
    stripe.end(String(stripe.sessions.get(session)?.subscription));
    await shop.deliverAll();
    expect((await shop.termsOf(buyer)).plan).toBe("trial");
  });

  it("gives packs of credits of a Payment Link, as many as were bought, and takes refunded ones back", async () => {
    const { buyer } = await shop.admitLicensed();
    const session = stripe.payLink(buyer.email, "price_pack", 3);
    const events = stripe.takeEvents();
    for (const event of [...events, ...events]) await stripe.deliver(shop.service, event);
    expect((await shop.termsOf(buyer)).credits).toBe(1500);
    stripe.refund(session, 1000);
    await shop.deliverAll();
    expect((await shop.termsOf(buyer)).credits).toBe(1000);
  });

  it("by a Payment Link is given once where Stripe tells of it twice at once, and both are answered", async () => {
    const { buyer } = await shop.admitLicensed();
    stripe.payLink(buyer.email, "price_pack");
    const events = stripe.takeEvents();
    const answers = await Promise.all(
      [...events, ...events].map((event) => stripe.deliver(shop.service, event)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await shop.termsOf(buyer)).credits).toBe(500);
  });

  it("by a Payment Link to one whom we know as another customer, is not sold twice", async () => {
    const buyer = await shop.admit(...ended);
    await shop.begin(buyer);
    stripe.payLink(buyer.email, "price_month");
    await shop.deliverAll();
    const { headers } = await buyer.browser.submit("/home/checkout", {
      account: buyer.id,
      licence: "price_month",
    });
    expect(headers.location).toBe("/home/billing?checkout=licensed");
  });

  it("to buyers of whom Stripe makes no customer, is given to each by their email", async () => {
    const buyers = [await shop.admit(...ended), await shop.admit(...ended)];
    for (const { email } of buyers) {
      stripe.payLink(email, "price_pack");
      await shop.deliverAll();
    }
    for (const buyer of buyers) expect((await shop.termsOf(buyer)).credits).toBe(500);
  });

  it("by hand in the dashboard is given too, also when no event arrives", async () => {
    const buyer = await shop.admit(...ended);
    stripe.makeSubscription(stripe.addCustomer(buyer.email, { tenant: "7" }).id, "price_team");
    stripe.takeEvents();
    await shop.reconcile();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed", assistantLimit: 25 });
  });

  it("for an unknown email waits: check, Today's numbers and reconcile name it, and its account gets it", async () => {
    const email = "new@example.com";
    const session = stripe.payLink(email, "price_month");
    const pack = stripe.payLink(email, "price_pack");
    stripe.payLink("gone@example.com", "price_more");
    await shop.deliverAll();
    const subscription = String(stripe.sessions.get(session)?.subscription);
    const { detail, remedy } = (await shop.service.check("billing")) ?? {};
    expect(detail).toContain(`purchases for emails without an account: ${email} (`);
    for (const id of [subscription, pack]) expect(detail).toContain(`${email} (${id})`);
    expect(remedy).toContain("Invite these emails, or add accounts with them");
    expect(await shop.service.adminJson("overview")).toMatchObject({ billing: { unclaimed: 3 } });
    const { stdout } = await shop.service.admin("billing", "reconcile");
    expect(stdout).toContain(
      `${email} paid for ${subscription} and has no account: 'invite ${email}', or 'account add ${email}'`,
    );
    const { unclaimedPurchases } = await shop.service.adminJson("person", "export", email);
    expect(unclaimedPurchases).toHaveLength(2);

    const today = async () => (await office.open("/today")).text;
    const listed = await today();
    expect(listed).toContain("<h2>Paid, but no account has the email</h2>");
    const [head = "", row = "", ...rows] = listed.slice(listed.indexOf("Paid, but no account")).split("<tr>");
    expect(head).toContain(
      "what was bought is given within ten minutes of its account. Or refund it at Stripe.",
    );
    expect(row).toContain("Email");
    expect(rows.filter((one) => one.includes(email))).toHaveLength(2);
    expect(rows.join("")).toContain(`https://dashboard.stripe.com/test/subscriptions/${subscription}`);
    for (const hidden of [`name="emails" value="${email}"`, 'name="plan" value="hobby"'])
      expect(rows.join("")).toContain(hidden);
    await office.submit("/waiting/invite", { emails: email, plan: "hobby" });
    await mailTo(shop.service.dataDir, email, /invit/i);
    expect(await today(), "an invitation is no account yet").toContain(pack);

    await shop.service.adminJson("account", "add", email, ...ended);
    await shop.reconcile();
    expect(await today()).not.toContain(pack);
    expect(await shop.termsOf({ email })).toMatchObject({ plan: "licensed", credits: 500 });
    const [other] = [...stripe.subscriptions.values()].slice(-1);
    stripe.end(other?.id ?? "");
    await shop.deliverAll();
    expect(await shop.service.adminJson("overview")).toMatchObject({ billing: { unclaimed: 0 } });
  });

  it("leaves other services' sales alone: other prices, and sessions without ours", async () => {
    const { buyer } = await shop.admitLicensed();
    const theirs = stripe.addCustomer("elsewhere@example.com", { account: "7" });
    stripe.makeSubscription(theirs.id, "price_other", { account: "7" });
    stripe.payLink("elsewhere@example.com", "price_other");
    const before = structuredClone(theirs);
    await shop.deliverAll();
    shop.pass(dayMs);
    expect(await shop.reconcile()).toMatchObject({ failed: 0 });
    expect(stripe.customers.get(theirs.id)).toEqual(before);
    expect(await shop.service.adminJson("overview")).toMatchObject({ billing: { unclaimed: 0 } });
    expect((await shop.termsOf(buyer)).plan).toBe("licensed");
  });

  it("leaves alone what a second deployment of this service sells at the same Stripe account, also to our owners", async () => {
    const { buyer } = await shop.admitLicensed();
    const pack = stripe.prices.get("price_pack") ?? expect.fail("no pack");
    const price = "price_theirs";
    stripe.prices.set(price, { ...pack, id: price, product: { ...pack.product, id: "prod_theirs" } });
    const sold = { account: "acc_theirs", price, thousandths: "500000", checkout: "theirs" };
    for (const email of [buyer.email, "theirs@example.com"]) {
      const customer = stripe.addCustomer(email, { account: sold.account, email });
      stripe.payLink(email, price, 1, sold);
      stripe.makeSubscription(customer.id, "price_other", sold);
      const topUp = { ...invoiceOf(customer.id), metadata: { ...sold, top_up: "theirs" } };
      stripe.invoices.set(topUp.id, topUp);
      stripe.payInvoice(topUp, 1000);
    }
    await shop.deliverAll();
    expect(await shop.reconcile()).toMatchObject({ failed: 0 });
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed", credits: 0 });
    expect(await shop.service.adminJson("overview")).toMatchObject({ billing: { unclaimed: 0 } });
    const audit = await shop.service.adminJson<{ what: string }[]>("audit", "list");
    expect(audit.map(({ what }) => what)).not.toContain("subscription for another price");
  });

  it("waits for its account also once its price is sold no more", async () => {
    const email = "restored@example.com"; // whose account a restored store does not have
    const sold = { account: "acc_lost", price: "price_pack", thousandths: "500000", checkout: "lost" };
    stripe.payLink(email, "price_pack", 1, sold);
    await shop.deliverAll();
    const { environment } = shop.service;
    const { STRIPE_CREDIT_PRICES = "" } = environment;
    environment.STRIPE_CREDIT_PRICES = "price_new";
    await shop.reconcile();
    expect(await shop.service.adminJson("overview")).toMatchObject({ billing: { unclaimed: 1 } });
    await shop.service.adminJson("account", "add", email, ...ended);
    await shop.reconcile();
    expect(await shop.termsOf({ email })).toMatchObject({ credits: 500 });
    environment.STRIPE_CREDIT_PRICES = STRIPE_CREDIT_PRICES;
  });

  it("ends with the account, without touching the customer that we did not make", async () => {
    const buyer = await shop.admit(...ended);
    const customer = stripe.addCustomer(buyer.email, { tenant: "7" });
    const subscription = stripe.makeSubscription(customer.id, "price_month");
    const theirs = stripe.makeSubscription(customer.id, "price_other");
    await shop.deliverAll();
    expect((await shop.termsOf(buyer)).plan).toBe("licensed");
    await shop.service.adminJson("person", "erase", buyer.email, "--yes");
    expect(stripe.subscriptions.get(subscription)?.status).toBe("canceled");
    expect(stripe.subscriptions.get(theirs)?.status).toBe("active");
    expect(stripe.customers.has(customer.id)).toBe(true);
  });
});
