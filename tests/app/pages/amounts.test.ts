import type { Stripe } from "stripe";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moneyInWords, priceInWords } from "@/lib/config/money";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import type { Buyer } from "@/tests/support/shop";
import type { Price } from "@/tests/support/stripe-stand-in";

describe.each(engines.slice(0, 1))("the amounts on pages", async (engine) => {
  const shop = await startShop(engine, { STRIPE_TAX: "automatic" });
  const { stripe } = shop;
  const prices = new Map(stripe.prices);
  beforeEach(() => {
    for (const [id, price] of prices) stripe.prices.set(id, price);
    shop.pass(11 * 60_000); // prices are kept for ten minutes
  });
  afterEach(() => {
    stripe.faultOf = () => "none";
  });

  const setPrice = (id: string, changed: Partial<Price>) =>
    stripe.prices.set(id, { ...(prices.get(id) ?? expect.fail(`no ${id}`)), ...changed });
  const read = async ({ browser }: Buyer, path = "/home/billing") => {
    await browser.post("/sign-in/renew");
    return wordsIn((await browser.open(path)).text);
  };
  const itemsOf = (subscription: string) =>
    stripe.subscriptions.get(subscription)?.items.data ?? expect.fail("no subscription");
  /** The next period begins: what is charged then, in words. */
  const chargeNext = (subscription: string) => {
    stripe.renew(subscription);
    const invoice = [...stripe.invoices.values()].at(-1) ?? expect.fail("no invoice");
    return moneyInWords(invoice.amount_paid, invoice.currency);
  };
  /** An owner who has bought a licence before which `change` happens to the subscription at Stripe. */
  const admit = async (change: (subscription: string, customer: string) => void = () => {}) => {
    const admitted = await shop.admitLicensed("--trial-ends", "2026-01-01");
    change(admitted.subscription, String(stripe.subscriptions.get(admitted.subscription)?.customer));
    stripe.change(admitted.subscription, {});
    await shop.deliverAll();
    return admitted;
  };

  it("are in the unit in which Stripe counts the currency", async () => {
    setPrice("price_month", { currency: "huf", unit_amount: 999_000 });
    setPrice("price_team", { currency: "kwd", unit_amount: 99_120 });
    setPrice("price_pack", { currency: "idr", unit_amount: 14_900_000 });
    expect(await read(await shop.admit("--plan", "licensed"))).toContain("IDR 149,000");
    const front = wordsIn((await shop.service.ask("/")).text);
    expect(front).toContain("HUF 9,990 a month");
    expect(front).toContain("KWD 99.120 a year");
  });

  it.each<[string, Partial<Price>, string]>([
    ["exactly", { unit_amount: 99_000 }, "€990 a year that is €82.50 a month"],
    ["about", { unit_amount: 10_000 }, "€100 a year that is about €8.33 a month"],
    [
      "in a currency without decimals",
      { unit_amount: 10_000, currency: "jpy" },
      "¥10,000 a year that is about ¥833 a month",
    ],
    [
      "in one shown without them",
      { unit_amount: 99_900, currency: "huf" },
      "HUF 999 a year that is about HUF 83 a month",
    ],
    [
      "of a quarter",
      { recurring: { interval: "month", interval_count: 3 } as Price["recurring"] },
      "€990 every 3 months that is €330 a month",
    ],
    [
      "of two years",
      { recurring: { interval: "year", interval_count: 2 } as Price["recurring"] },
      "€990 every 2 years that is €41.25 a month",
    ],
    [
      "but not of a week",
      { recurring: { interval: "week", interval_count: 1 } as Price["recurring"] },
      "€990 a weekBuy Team licence",
    ],
    ["nor of an amount by quantity", { unit_amount: null }, "Price shown at checkoutBuy Team licence"],
  ])("say what a price for several months is in one, %s", async (_, changed, words) => {
    setPrice("price_team", changed);
    expect(await read(await shop.admit("--trial-ends", "2026-01-01"))).toContain(`Team licence${words}`);
  });

  it.each<[string, string, (subscription: string, customer: string) => void]>([
    ["a licence", "€49", () => {}],
    ["two of it", "€98", (id) => void Object.assign(itemsOf(id)[0] ?? {}, { quantity: 2 })],
    ["one with half a coupon", "€24.50", (_, customer) => void stripe.percentsOff.set(customer, 50)],
    ["one with credit from before", "€39", (_, customer) => void stripe.credits.set(customer, 1000)],
    [
      "one with an add-on as its first item",
      "€54",
      (id) => {
        const [item] = itemsOf(id);
        const addOn = { ...prices.get("price_month"), id: "price_add_on", unit_amount: 500 } as Stripe.Price;
        addOn.product = { id: "prod_support", object: "product", name: "Support" } as Stripe.Product;
        if (item) itemsOf(id).unshift({ ...item, id: "si_add_on", price: addOn });
      },
    ],
  ])("say of %s that it renews for %s, which is then charged", async (_, amount, change) => {
    const { buyer, subscription } = await admit(change);
    for (const page of ["/home", "/home/billing"]) {
      const text = await read(buyer, page);
      expect(text).toContain("Office licence");
      expect(text).toMatch(new RegExp(`Next charge, on [\\w ]+ UTC${amount} paid each month`));
    }
    expect(chargeNext(subscription)).toBe(amount.includes(".") ? amount : `${amount}.00`);
  });

  it("say no tax of a payment of which credit pays a part", async () => {
    const { buyer } = await admit((_, customer) => void stripe.credits.set(customer, 1000));
    expect(await read(buyer)).toMatch(/UTC€39 paid each monthPlan/);
  });

  it("are not those of before a change", async () => {
    const { buyer, subscription } = await admit();
    expect(await read(buyer)).toMatch(/Next charge, on [\w ]+ UTC€49 /);
    Object.assign(itemsOf(subscription)[0] ?? {}, { quantity: 2 });
    stripe.change(subscription, {});
    await shop.deliverAll();
    expect(await read(buyer)).toMatch(/Next charge, on [\w ]+ UTC€98 /);
  });

  it("say that nothing is charged with a coupon of 100 %", async () => {
    const { buyer, subscription } = await admit((_, customer) => void stripe.percentsOff.set(customer, 100));
    for (const page of ["/home", "/home/billing"])
      expect(await read(buyer, page)).toMatch(/Next charge, on [\w ]+ UTCNothing Plan/);
    expect(chargeNext(subscription)).toBe("€0.00");
  });

  it("are in the customer's currency, also what is sold", async () => {
    for (const id of ["price_month", "price_pack"])
      setPrice(id, { currency_options: { eur: { unit_amount: 4900 }, usd: { unit_amount: 5300 } } });
    const newcomer = await shop.admit("--trial-ends", "2026-01-01");
    expect(await read(newcomer)).toContain("€49 a month (or in your currency)");
    const { buyer, subscription } = await admit((id) => stripe.change(id, { currency: "usd" }));
    stripe.renew(subscription);
    await shop.deliverAll();
    const text = await read(buyer);
    expect(text).toMatch(/UTC\$63\.60 paid each month; \$10\.60 of it is tax/);
    expect(text).toContain("500 credits$53 plus tax");
    expect(text, "a price that has no other").toContain("€990 a year");
    expect(text).not.toContain("(or in your currency)");
    expect(chargeNext(subscription)).toBe("$63.60");
  });

  it("are none, and there is nothing to choose, where no price is sold any more", async () => {
    for (const id of ["price_month", "price_team"]) setPrice(id, { active: false });
    const ended = await shop.admit("--trial-ends", "2026-01-01");
    const trying = await shop.admit("--trial-days", "2");
    const unsold = / Plans aren’t sold on this site: for one, (write to|ask) /;
    for (const path of ["/home", "/home/billing"]) {
      for (const buyer of [ended, trying]) {
        const text = await read(buyer, path);
        expect(text).not.toMatch(/€|until you choose one|You can cancel at any time|Choose a plan/);
        if (buyer === ended || path === "/home") expect(text).toMatch(unsold);
      }
    }
    expect(await read(trying)).toContain("Plans aren’t sold on this site: for one, ");
  });

  it("say in which currency Stripe charges a price of another one", async () => {
    const { buyer, subscription } = await admit();
    expect(await read(buyer)).not.toContain("charged in");
    stripe.change(subscription, { presentment_details: { presentment_currency: "brl" } });
    shop.pass(2 * 60_000); // what is kept of its details
    expect(await read(buyer)).toMatch(/UTC€49 paid each month; charged in BRL/);
  });

  it("say where tax is added: by the price, else by Stripe's settings", async () => {
    setPrice("price_month", { tax_behavior: "exclusive" });
    setPrice("price_team", { tax_behavior: "inclusive" });
    const text = await read(await shop.admit("--trial-ends", "2026-01-01"));
    expect(text).toContain("€49 a month plus tax");
    expect(text).not.toContain("€990 a year plus tax");
    const { buyer, subscription } = await admit();
    expect(await read(buyer)).toMatch(/UTC€58\.80 paid each month; €9\.80 of it is tax/);
    expect(chargeNext(subscription)).toBe("€58.80");
    stripe.tax.behavior = "exclusive";
    setPrice("price_month", { tax_behavior: "unspecified" });
    shop.pass(11 * 60_000);
    expect(await read(await shop.admit("--trial-ends", "2026-01-01"))).toContain("€49 a month plus tax");
    stripe.tax.behavior = "inferred_by_currency";
    setPrice("price_month", { tax_behavior: "inclusive" });
    shop.pass(11 * 60_000);
    expect(await read(await shop.admit("--trial-ends", "2026-01-01"))).toContain("Prices include tax.");
    setPrice("price_month", { tax_behavior: "unspecified" });
    shop.pass(11 * 60_000);
  });

  it("say what is due while a payment is missing", async () => {
    const { buyer, subscription } = await admit(
      (id) => void Object.assign(itemsOf(id)[0] ?? {}, { quantity: 3 }),
    );
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect(await read(buyer)).toMatch(
      /You pay now€147 or Stripe charges your Visa ending in 4242 \(expires 08\/27\) on [\w ]+ UTCNext charge, on /,
    );
  });

  it("say what is due in all while two payments are missing, and what of it is left after one", async () => {
    const { buyer, subscription } = await admit();
    stripe.switchPrice(subscription, "price_more", { isPaid: false });
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    const open = [...stripe.invoices.values()].filter(
      ({ parent, status }) => status === "open" && parent?.subscription_details.subscription === subscription,
    );
    const sum = () => open.reduce((all, { amount_remaining }) => all + amount_remaining, 0);
    const [change = expect.fail("no invoice"), renewal = expect.fail("no invoice")] = open;
    expect([open.length, renewal.amount_remaining]).toEqual([2, 9900]);
    const all = priceInWords(sum(), "eur");
    expect(await read(buyer)).toContain(`You pay now${all} in 2 invoices; `);
    const { stdout } = await shop.service.admin("explain", buyer.email);
    expect(stdout).toContain(` ${all} in 2 invoices is due (the latest is ${renewal.id}).`);
    stripe.payInvoice(change, change.amount_remaining);
    stripe.change(subscription, {});
    await shop.deliverAll();
    expect(await read(buyer)).toContain("You pay now€99 ");
  });

  it("of an invoice that came by mail are there before it is due", async () => {
    const { buyer, subscription } = await admit((id) =>
      stripe.change(id, { collection_method: "send_invoice", days_until_due: 30 }),
    );
    stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect(await read(buyer)).toMatch(
      /Invoice due: pay it by \d.*Your invoice came by mail\..*Pay €49.*You pay now€49 by \d/,
    );
  });

  it("come with one call to Stripe, and without an answer in time the page says where they are", async () => {
    const { buyer } = await admit();
    const previews = () => stripe.requests.filter((request) => request.endsWith("create_preview")).length;
    const before = previews();
    await Promise.all([read(buyer), read(buyer, "/home"), read(buyer)]);
    expect(previews() - before).toBe(1);
    stripe.faultOf = (request) => (request.endsWith("create_preview") ? "silent" : "none");
    shop.pass(61 * 60_000);
    for (let n = 0; n < 2; n++) {
      const text = await read(buyer);
      expect(text).toMatch(/Next charge, on [\w ]+ UTCShown at Stripe/);
    }
    expect(previews() - before, "asked once while it is silent").toBe(2);
    stripe.faultOf = () => "none";
    shop.pass(61 * 60_000);
    expect(await read(buyer)).toMatch(/Next charge, on [\w ]+ UTC€49 /);
  });
});

/** What is shown of a page, in which blanks that do not break are blanks. */
const wordsIn = (text: string) => text.replaceAll(/<[^>]+>/g, "").replaceAll("\u00a0", " ");
