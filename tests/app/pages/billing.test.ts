import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { type ErrorCode, errorCatalogue } from "@/lib/http/errors";
import { startService, startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance, makeDeletedUser } from "@/tests/support/clerk-instance";
import { expectRefusal } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { type Answer, Service } from "@/tests/support/service";
import { type Buyer, openShop, sessionIn } from "@/tests/support/shop";

type Expected = { status: number; code: ErrorCode; message?: string; hint?: string };

/** A program gets a form's refusal as an ApiError. */
function expectApiError({ status, text }: Answer, { code, ...expected }: Expected): void {
  const { message, hint } = { ...errorCatalogue[code], ...expected };
  expect([status, JSON.parse(text).error]).toEqual([
    expected.status,
    { code, message, hint, docs: expect.stringMatching(new RegExp(`/docs/api/errors#${code}$`)) },
  ]);
}

const forPeople = { accept: "text/html" };

describe.each(engines)("billing on /home, on $name", async (engine) => {
  const shop = await startShop(engine);
  afterEach(() => {
    shop.stripe.takeEvents();
    shop.stripe.faultOf = () => "none";
    shop.stripe.whenDone = () => {};
  });

  const post = (buyer: Buyer, path: string, fields: object = {}, headers: Record<string, string> = {}) =>
    buyer.browser.submit(path, { account: buyer.id, ...fields }, headers);
  const checkOut = (buyer: Buyer, fields: object = { licence: "price_month" }, headers = {}) =>
    post(buyer, "/home/checkout", fields, headers);
  const entitlement = async ({ browser }: Buyer) => {
    const headers = { cookie: browser.cookie };
    return JSON.parse((await shop.service.ask("/api/entitlement", { headers })).text);
  };
  const statusOf = async (buyer: Buyer) => {
    await buyer.browser.post("/sign-in/renew");
    return (await entitlement(buyer)).status;
  };
  const home = async ({ browser }: Buyer, query = "") => {
    await browser.post("/sign-in/renew");
    return (await browser.open(`/home/billing${query}`)).text;
  };
  const returnFrom = (buyer: Buyer, session: string) =>
    buyer.browser.open(`/home/checkout/return?session=${session}`);
  const openOf = ({ id }: Buyer) =>
    [...shop.stripe.sessions.values()].filter(
      ({ status, metadata }) => status === "open" && metadata?.account === id,
    );

  it("shows the licences with their prices and periods to an owner on a trial, after it and on hobby", async () => {
    for (const terms of [
      ["--trial-days", "5"],
      ["--trial-ends", "2026-01-01"],
      ["--plan", "hobby"],
    ]) {
      const buyer = await shop.admit(...terms);
      const { text: first } = await buyer.browser.open("/home");
      expect(first.includes("€49"), "at home once the next step is to choose").toBe(
        terms[0] === "--trial-ends",
      );
      const text = await home(buyer);
      const offers = ["Office licence", "€49 a month", "Team licence", "€990 a year"];
      for (const words of ["A plan starts, and is charged, when you buy it", ...offers])
        expect(text).toContain(words);
      expect(text.includes('<a class="button" href="#plans">Choose a plan</a>'), "without a plan").toBe(
        terms[0] === "--trial-ends",
      );
      for (const words of ["500 credits", "Manage billing", "Your trial is free", "ready for work"])
        expect(text).not.toContain(words);
    }
    const given = await shop.admit("--plan", "licensed");
    const licensed = await home(given);
    const words = "Nothing <small>we gave you your plan</small>";
    const withoutCredits = (await given.browser.open("/home")).text;
    for (const text of [licensed, withoutCredits]) expect(text).toContain(words);
    expect(withoutCredits).toContain('<a href="/home/billing#packs">Buy credits</a>');
    for (const sold of ["€49", "500 credits"]) expect(licensed).toContain(sold);
    expect(licensed).toContain("€10");
    expect(licensed).toContain("A plan that you buy replaces the one that we gave you: you pay its price");
    await shop.buy(given);
    await shop.deliverAll();
    const paid = await home(given);
    expect(paid).toContain("Next charge");
    expect(paid).not.toContain(words);
  });

  it("tells an owner, and the owner's apps, to choose a licence when the trial has ended", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { hint } = (await entitlement(buyer)).error;
    expect(hint).toContain(`Get a plan at ${shop.service.url}/home/billing;`);
    const { text } = await buyer.browser.open("/home");
    expect(text).toContain(hint.replace(` at ${shop.service.url}/home/billing`, ""));
  });

  it("leads to the checkout by a page of ours, because a redirect after a form is held to form-action", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { status, headers, text } = await checkOut(buyer);
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers["cache-control"]).toBe("no-store, no-transform");
    const session = sessionIn({ status, headers, text });
    expect(text).toContain(`<meta http-equiv="refresh" content="0; url=${shop.stripe.url}/pay/${session}">`);
    expect(shop.stripe.sessions.get(session)).toMatchObject({
      mode: "subscription",
      metadata: { account: buyer.id, price: "price_month", thousandths: "0" },
    });
  });

  it("shows the licence at once at the return, without a webhook", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { session } = await shop.buy(buyer);
    expect(await statusOf(buyer)).toBe("trial-ended");
    const { status, headers } = await returnFrom(buyer, session);
    expect([status, headers.location]).toEqual([303, "/home/billing?checkout=bought"]);
    expect(await statusOf(buyer)).toBe("licensed");
    const text = await home(buyer, "?checkout=bought");
    expect(text).toContain("Your purchase is complete.");
    expect(text).toContain("Next charge");
    expect(text).toContain("Manage billing");
    await shop.deliverAll();
    expect(await statusOf(buyer)).toBe("licensed");
  });

  it("says that Stripe has not confirmed a payment while Stripe is away, and gives it later", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const { session } = await shop.buy(buyer);
    shop.stripe.faultOf = () => "500";
    const { headers } = await returnFrom(buyer, session);
    expect(headers.location).toBe("/home/billing?checkout=pending");
    expect(await home(buyer, "?checkout=pending")).toContain("Stripe has not confirmed your payment yet.");
    shop.stripe.faultOf = () => "none";
    expect(await shop.reconcile()).toMatchObject({ failed: 0 });
    expect(await statusOf(buyer)).toBe("licensed");
  });

  it("says that a checkout was left, and changes nothing", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const session = await shop.begin(buyer);
    const cancel = new URL(shop.stripe.sessions.get(session)?.cancel_url ?? "");
    const { headers } = await buyer.browser.open(`${cancel.pathname}${cancel.search}`);
    expect(headers.location).toBe("/home/billing?checkout=cancelled");
    const text = await home(buyer, "?checkout=cancelled");
    expect(text).toContain("Nothing was bought, and nothing has changed.");
    expect(await statusOf(buyer)).toBe("trial-ended");
  });

  it("gives nothing for a forged return: an amount, an open checkout, or one that no one here began", async () => {
    const buyer = await shop.admit("--plan", "licensed");
    const session = await shop.begin(buyer, { credits: "price_pack" });
    const asked = shop.stripe.requests.length;
    for (const forged of ["cs_test_unknown", "../customers/cus_1", "", "x".repeat(3000)])
      expect((await returnFrom(buyer, encodeURIComponent(forged))).status).toBe(303);
    expect(shop.stripe.requests.length, "nothing was asked").toBe(asked);
    await returnFrom(buyer, `${session}&thousandths=900000000&credits=900000&amount=0&account=${buyer.id}`);
    expect((await shop.termsOf(buyer)).credits).toBe(0);
    shop.stripe.pay(session);
    await returnFrom(buyer, `${session}&thousandths=900000000`);
    await returnFrom(buyer, session);
    expect((await shop.termsOf(buyer)).credits).toBe(500);
  });

  it("asks Stripe at most ten times in ten minutes about one return", async () => {
    const buyer = await shop.admit();
    const session = await shop.begin(buyer);
    const read = () => shop.stripe.requests.filter((request) => request.includes(session)).length;
    const asked = read();
    for (let n = 0; n < 15; n++) await returnFrom(buyer, session);
    expect(read() - asked).toBe(10);
  });

  it("two tabs and a double click get one checkout; another price ends the first", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const before = shop.stripe.sessions.size;
    const both = await Promise.all([checkOut(buyer), checkOut(buyer), checkOut(buyer)]);
    const [session = ""] = new Set(both.map(sessionIn));
    expect(new Set(both.map(sessionIn)).size).toBe(1);
    expect(shop.stripe.sessions.size - before).toBe(1);
    const other = await shop.begin(buyer, { licence: "price_team" });
    expect(shop.stripe.sessions.get(session)?.status).toBe("expired");
    expect(() => shop.stripe.pay(session)).toThrow("expired");
    shop.stripe.pay(other);
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed", assistantLimit: 25 });
  });

  it("a second tab gets the checkout that Stripe is still making for the first", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const creation = "POST /v1/checkout/sessions";
    const asked = () => shop.stripe.requests.filter((request) => request === creation).length;
    const [askedBefore, before] = [asked(), shop.stripe.sessions.size];
    const { promise: made, resolve: finish } = Promise.withResolvers<void>();
    shop.stripe.whenDone = (request) => (request === creation ? made : undefined);
    const first = checkOut(buyer);
    await eventually(async () => expect(asked() - askedBefore).toBe(1));
    const second = checkOut(buyer);
    // Stripe answers 409, and the library asks twice more.
    await eventually(async () => expect(asked() - askedBefore).toBeGreaterThanOrEqual(4));
    finish();
    expect(sessionIn(await second)).toBe(sessionIn(await first));
    expect(shop.stripe.sessions.size - before).toBe(1);
  });

  it("two prices at once never leave two checkouts that can be paid", async () => {
    for (let n = 0; n < 5; n++) {
      const buyer = await shop.admit("--trial-ends", "2026-01-01");
      const sold = ["price_month", "price_team", "price_month", "price_team"];
      await Promise.all(sold.map((licence) => checkOut(buyer, { licence })));
      expect(openOf(buyer).length).toBeLessThanOrEqual(1);
    }
  });

  it("a checkout of a licence leaves that of credits open, and the other way round", async () => {
    const buyer = await shop.admit("--plan", "licensed");
    const credits = await shop.begin(buyer, { credits: "price_pack" });
    const licence = await shop.begin(buyer);
    expect(openOf(buyer).map(({ id }) => id)).toEqual([credits, licence]);
    const other = await shop.admit("--plan", "licensed");
    const first = await shop.begin(other);
    expect(openOf(other).map(({ id }) => id)).toEqual([first]);
    const second = await shop.begin(other, { credits: "price_pack" });
    expect(openOf(other).map(({ id }) => id)).toEqual([first, second]);
  });

  it("sells a licence to an owner whose former one Stripe no longer knows", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    shop.stripe.subscriptions.delete(subscription);
    const session = await shop.begin(buyer);
    expect(openOf(buyer).map(({ id }) => id)).toEqual([session]);
  });

  it("a button pressed again after buying buys nothing, also before any event has arrived", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    await shop.buy(buyer);
    shop.stripe.takeEvents();
    const again = await checkOut(buyer);
    expect([again.status, again.headers.location]).toEqual([303, "/home/billing?checkout=licensed"]);
    expect(await statusOf(buyer)).toBe("licensed");
    expect(await home(buyer, "?checkout=licensed")).toContain("nothing was bought");
    expect(openOf(buyer)).toEqual([]);
  });

  it("keeps a checkout that can be paid while Stripe refuses to say so", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const session = await shop.begin(buyer);
    shop.stripe.faultOf = (request) => (request.startsWith("GET /v1/checkout") ? "429" : "none");
    expectApiError(await checkOut(buyer), { status: 502, code: "checkout_failed" });
    shop.stripe.faultOf = () => "none";
    expect(await shop.begin(buyer)).toBe(session);
  });

  it("keeps a checkout of a customer that was deleted while Stripe does not end it", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const session = await shop.begin(buyer);
    shop.stripe.deleteCustomer(String(shop.stripe.sessions.get(session)?.customer));
    shop.stripe.faultOf = (request) => (request.endsWith("/expire") ? "500" : "none");
    expectApiError(await checkOut(buyer), { status: 502, code: "checkout_failed" });
    expect(openOf(buyer).map(({ id }) => id)).toEqual([session]);
    shop.stripe.faultOf = () => "none";
    const other = await shop.begin(buyer);
    expect(openOf(buyer).map(({ id }) => id)).toEqual([other]);
  });

  it("begins another checkout once one that was paid is settled, however long that takes", async () => {
    const buyer = await shop.admit("--plan", "licensed");
    const { session } = await shop.buy(buyer, { credits: "price_pack" });
    shop.stripe.takeEvents();
    let reads = 0;
    shop.stripe.faultOf = (request) =>
      request === `GET /v1/checkout/sessions/${session}` && ++reads === 2 ? sleep(300, "none") : "none";
    const other = await shop.begin(buyer, { credits: "price_pack" });
    expect(openOf(buyer).map(({ id }) => id)).toEqual([other]);
    expect((await shop.termsOf(buyer)).credits).toBe(500);
  });

  it.each([
    ["the answer about its checkout was lost", "POST /v1/checkout/sessions", "lost"],
    ["Stripe failed when it had made the customer", "POST /v1/customers", "done500"],
    ["Stripe's answer to the same key would be the same for a day", "POST", "500"],
  ] as const)(
    "makes one customer and one checkout after an attempt in which %s",
    async (_, request, fault) => {
      const buyer = await shop.admit("--trial-ends", "2026-01-01");
      shop.stripe.faultOf = (asked) => (asked.startsWith(request) ? fault : "none");
      expectApiError(await checkOut(buyer), { status: 502, code: "checkout_failed" });
      shop.stripe.faultOf = () => "none";
      const session = await shop.begin(buyer);
      expect(openOf(buyer).map(({ id }) => id)).toEqual([session]);
      const made = [...shop.stripe.customers.values()].filter(({ account }) => account === buyer.id);
      expect(made).toHaveLength(1);
    },
  );

  it("takes no customer at Stripe that has the same email and is another service's or another account's", async () => {
    const [buyer, another] = [await shop.admit("--trial-ends", "2026-01-01"), await shop.admit()];
    const others = { cus_elsewhere: "", cus_of_another: another.id };
    for (const [id, account] of Object.entries(others)) {
      const [metadata, made] = [account ? { account } : {}, { object: "customer", created: 0 } as const];
      shop.stripe.customers.set(id, { ...made, id, email: buyer.email, metadata, account });
    }
    const { customer } = shop.stripe.sessions.get(await shop.begin(buyer)) ?? {};
    expect(Object.keys(others)).not.toContain(String(customer));
  });

  it("makes a customer again that someone has deleted at Stripe", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    const session = await shop.begin(buyer);
    const customer = () => String(shop.stripe.sessions.get(session)?.customer);
    shop.stripe.deleteCustomer(customer());
    // The same price, whose checkout was open.
    const other = await shop.begin(buyer);
    expect(other).not.toBe(session);
    shop.stripe.pay(other);
    await shop.deliverAll();
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed" });
    // And with a licence, whose end was not heard of.
    shop.stripe.deleteCustomer(String(shop.stripe.sessions.get(other)?.customer));
    shop.stripe.takeEvents();
    shop.pass(dayMs);
    await shop.reconcile();
    expect(await home(buyer)).toContain("Your plan ended on");
    await shop.buy(buyer);
    await shop.deliverAll();
    expect(await statusOf(buyer)).toBe("licensed");
  });

  it("tells Stripe an account's changed email, and leaves one alone that the owner prefers there", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    const customer = shop.stripe.customers.get(String(shop.stripe.subscriptions.get(subscription)?.customer));
    if (!customer) throw new Error("no customer");
    customer.email = "books@example.com";
    shop.pass(dayMs);
    await shop.reconcile();
    expect(customer.email).toBe("books@example.com");
    await shop.stage.query(`UPDATE accounts SET email = 'new-${buyer.email}' WHERE id = '${buyer.id}'`);
    shop.pass(dayMs);
    await shop.reconcile();
    expect(customer.email).toBe(`new-${buyer.email}`);
    customer.email = "books@example.com";
    shop.pass(dayMs);
    await shop.reconcile();
    expect(customer.email, "preferred again").toBe("books@example.com");
  });

  it.each(["past_due", "unpaid"] as const)(
    "leads an owner whose licence is %s to the portal, and sells no second one",
    async (status) => {
      const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
      const sold = shop.stripe.sessions.size;
      shop.pass(30 * dayMs);
      shop.stripe.renew(subscription, { isPaid: false });
      shop.stripe.change(subscription, { status });
      buyer.browser = await Browser.signIn(shop.service, buyer.email);
      // Before any event has arrived.
      expect((await checkOut(buyer)).text).toContain(`${shop.stripe.url}/portal/`);
      expect(shop.stripe.sessions.size).toBe(sold);
      const text = await home(buyer);
      expect(text).not.toContain("Buy Office licence");
      expect(text).toContain("Manage billing");
      expect(text, "a licence that is not paid goes on at Stripe").toContain(">Pay €49</button>");
      const words = {
        past_due: "Payment failed: your assistants stop on",
        unpaid: "Not paid: your assistants stopped on",
      };
      expect(text).toContain(words[status]);
      const mark = '<h3>Office licence</h3><span class="tag">Your plan, not paid</span>';
      expect(text.includes(mark), "its plan is marked").toBe(status === "unpaid");
      expect(text.includes(">Cancel it at Stripe</button>")).toBe(status === "unpaid");
      const toCancel = '<a class="button plain" href="/home/billing">Cancel it at Stripe</a>';
      expect((await buyer.browser.open("/home")).text.includes(toCancel)).toBe(status === "unpaid");
    },
  );

  it("collects tax, tax ids and promotion codes at Checkout where the settings say so", async () => {
    const taxed = await openShop(engine, { STRIPE_TAX: "automatic", STRIPE_PROMOTION_CODES: "on" });
    onTestFinished(taxed.close);
    const asked = (session: string) => taxed.stripe.sessions.get(session)?.asked;
    const licence = await taxed.begin(await taxed.admit("--trial-ends", "2026-01-01"));
    const credits = await taxed.begin(await taxed.admit("--plan", "licensed"), { credits: "price_pack" });
    for (const session of [licence, credits])
      expect(asked(session)).toMatchObject({
        "automatic_tax[enabled]": "true",
        "tax_id_collection[enabled]": "true",
        billing_address_collection: "required",
        "customer_update[address]": "auto",
        "customer_update[name]": "auto",
        allow_promotion_codes: "true",
      });
    expect(asked(credits)).toMatchObject({ "invoice_creation[enabled]": "true" });
    const [plain] = shop.stripe.sessions.values();
    expect(Object.keys(plain?.asked ?? {}).join()).not.toMatch(/tax|promotion/);
  });

  it("leaves no customer at Stripe of an account that is erased while it buys", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    shop.stripe.whenDone = async (request) => {
      if (request === "POST /v1/customers") await shop.service.adminJson("person", "erase", buyer.email);
    };
    expect((await checkOut(buyer)).status).toBe(403);
    expect([...shop.stripe.customers.values()].map(({ email }) => email)).not.toContain(buyer.email);
  });

  it("sells nothing that is not for sale", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    for (const licence of ["price_pack", "price_other", ""]) {
      const { status, text } = await checkOut(buyer, { licence });
      expect([status, JSON.parse(text).error.message]).toEqual([400, "This is not for sale."]);
    }
    const refused = await checkOut(buyer, { credits: "price_pack" });
    expectApiError(refused, { status: 403, code: "paid_only" });
  });

  it("opens the portal for an owner who has bought something, and for no one else", async () => {
    const buyer = await shop.admit("--trial-ends", "2026-01-01");
    await shop.begin(buyer);
    expectApiError(await post(buyer, "/home/portal"), { status: 403, code: "paid_only" });
    const toPage = await post(buyer, "/home/portal", {}, forPeople);
    expect([toPage.status, toPage.headers.location]).toEqual([303, "/home/billing?problem=paid_only"]);
    expect(await home(buyer, "?problem=paid_only")).toContain("This needs a paid plan.");
    await shop.buy(buyer);
    await shop.deliverAll();
    const { text } = await post(buyer, "/home/portal");
    expect(text).toContain(`${shop.stripe.url}/portal/`);
    shop.stripe.faultOf = () => "500";
    expectApiError(await post(buyer, "/home/portal"), { status: 502, code: "portal_failed" });
    const failed = await post(buyer, "/home/portal", {}, forPeople);
    expect(failed.headers.location).toBe("/home/billing?problem=portal_failed");
    expect(await home(buyer, "?problem=portal_failed")).toContain("The billing portal could not be opened.");
    // Stripe also refuses for good, for example a price that was archived there.
    expect(await home(buyer, "?problem=checkout_failed")).toContain(
      "Try again in a moment. If it fails again, tell us: our log says why.",
    );
  });

  it("says which card pays for the licence, and which one refused", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    const card = "<dt>Card</dt><dd>Visa <small>ending in 4242, expires 08/27</small></dd>";
    expect(await home(buyer)).toContain(card);
    shop.stripe.renew(subscription, { isPaid: false });
    await shop.deliverAll();
    expect(await home(buyer)).toMatch(
      /<dt>You pay now<.*or Stripe charges your Visa ending in 4242 \(expires 08\/27\) on </,
    );
    shop.stripe.change(subscription, { status: "active" });
    shop.stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    expect(await home(buyer), "nothing more is charged").not.toContain("<dt>Card</dt>");
    const other = await shop.admitLicensed("--trial-ends", "2026-01-01");
    shop.stripe.cards.delete(String(shop.stripe.subscriptions.get(other.subscription)?.customer));
    const text = await home(other.buyer);
    expect(text, "something else pays").toContain("Next charge");
    expect(text).not.toContain("<dt>Card</dt>");
  });

  it("says when the licence ends after it was cancelled, and that a payment failed", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    shop.stripe.change(subscription, { status: "past_due" });
    await shop.deliverAll();
    const failed = await home(buyer);
    expect(failed).toContain(
      "Your assistants still run; paying keeps them running. At Stripe you pay the invoice, change the card, or cancel the plan.",
    );
    expect(failed).toContain(">Pay or change the card</button>");
    const due = (await buyer.browser.open("/home")).text;
    expect(due).toContain('<section class="card verdict" data-colour="soon"');
    expect(due).toContain("<h1>Payment failed: your assistants stop on ");
    const notice = '<a href="/home/billing">See Billing</a>';
    for (const path of ["/home/access", "/home/account"])
      expect((await buyer.browser.open(path)).text).toMatch(
        new RegExp(`role="alert">Payment failed: your assistants stop on \\d+ \\w+\\. ${notice}`),
      );
    for (const path of ["/home", "/home/billing"])
      expect((await buyer.browser.open(path)).text).not.toContain(notice);
    shop.stripe.change(subscription, { status: "active" });
    shop.stripe.cancelAtPeriodEnd(subscription);
    await shop.deliverAll();
    const text = await home(buyer);
    expect(text).not.toContain("Payment failed");
    expect((await buyer.browser.open("/home/account")).text, "nothing is due").not.toContain(notice);
    expect(text).toMatch(
      /<h2 id="billing">Cancelled: your plan ends on \d+ \w+<.*>Keep the plan<\/button>.*Next charge<.*>Nothing/,
    );
    expect(text).toContain("Invoices and your card<");
  });

  it("says what is paid and by whom after a licence has ended, also if an operator gives one then", async () => {
    const { buyer, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    shop.stripe.end(subscription);
    await shop.deliverAll();
    const ended = await home(buyer);
    for (const words of [
      "Your plan ended on",
      "A plan starts, and is charged, when you buy it",
      '<a class="button" href="#plans">Choose a plan</a>',
      "<dt>You pay</dt><dd>Nothing <small>until you buy a plan",
      "Invoices and your card<",
    ])
      expect(ended).toContain(words);
    await shop.service.adminJson("account", "set", buyer.email, "--plan", "licensed");
    const given = await home(buyer);
    expect(given).toContain("Nothing <small>we gave you your plan</small>");
    expect(given).not.toContain("Your plan ended on");
    expect((await buyer.browser.open("/home")).text).toContain(
      "Connect your first app: your assistants work",
    );
  });

  it("exports what was bought, and erases the customer at Stripe first or not at all", async () => {
    const { buyer, session, subscription } = await shop.admitLicensed("--trial-ends", "2026-01-01");
    type Exported = { billing: { customer: { customerId: string } } };
    const { billing } = await shop.service.adminJson<Exported>("person", "export", buyer.email);
    expect(billing).toMatchObject({
      customer: { customerId: expect.stringMatching(/^cus_/) },
      subscriptions: [{ id: subscription, status: "active" }],
      checkouts: [{ sessionId: session, kind: "licence", state: "fulfilled" }],
    });
    for (const command of [
      ["person", "erase"],
      ["account", "delete"],
    ]) {
      shop.stripe.faultOf = () => "500";
      const refused = await shop.service.admin(...command, buyer.email);
      expect([refused.code, refused.stderr.split("\n").length]).toEqual([1, 2]);
      expect(refused.stderr).toContain("upstream_failed: The customer at Stripe could not be deleted");
      shop.stripe.faultOf = () => "none";
    }
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed" });
    await shop.service.adminJson("person", "erase", buyer.email);
    expect(shop.stripe.customers.has(billing.customer.customerId)).toBe(false);
    expect(shop.stripe.subscriptions.get(subscription)?.status).toBe("canceled");
    for (const table of ["billing_customers", "billing_subscriptions", "billing_checkouts"]) {
      expect(await shop.stage.query(`SELECT * FROM ${table} WHERE account_id = '${buyer.id}'`)).toEqual([]);
    }
  });

  it("erases an account whose checkout Stripe has not made", async () => {
    const [buyer, bystander] = [await shop.admit(), await shop.admit()];
    shop.stripe.faultOf = (request) => (request === "POST /v1/checkout/sessions" ? "reset" : "none");
    expectApiError(await checkOut(buyer), { status: 502, code: "checkout_failed" });
    shop.stripe.faultOf = () => "none";
    const session = await shop.begin(bystander);
    await shop.service.adminJson("person", "erase", buyer.email);
    expect((await shop.service.admin("account", "show", buyer.email)).stderr).toContain("not_found");
    expect(openOf(bystander).map(({ id }) => id)).toEqual([session]);
  });

  it("keeps the buttons when Stripe is away, and says that the price is shown at checkout", async () => {
    const other = await openShop(engine);
    onTestFinished(other.close);
    other.stripe.faultOf = () => "500";
    const buyer = await other.admit("--trial-ends", "2026-01-01");
    const { text } = await buyer.browser.open("/home/billing");
    expect(text.match(/>Price shown at checkout</g)).toHaveLength(2);
    expect(text.match(/<button[^>]*name="licence"/g)).toHaveLength(2);
    const prices = () => other.stripe.requests.filter((request) => request.startsWith("GET /v1/prices"));
    const asked = prices().length;
    expect(asked).toBeGreaterThan(0);
    for (let page = 0; page < 5; page++) await buyer.browser.open("/home/billing");
    // The reconciler asks for itself, four times in its first round.
    expect(prices().length - asked, "no page waits for it each time").toBeLessThan(5);
    other.stripe.faultOf = () => "none";
    other.pass(31_000);
    await buyer.browser.post("/sign-in/renew");
    expect((await buyer.browser.open("/home/billing")).text).toContain("€49 a month");
    other.stripe.faultOf = () => "500";
    other.pass(9 * 60_000);
    await buyer.browser.post("/sign-in/renew");
    expect((await buyer.browser.open("/home/billing")).text, "kept for ten minutes").toContain("€49 a month");
  });
});

describe.each(engines.slice(0, 1))("billing under Clerk", (engine) => {
  it("ends with the user at Clerk", async () => {
    const clerk = await ClerkInstance.start();
    const shop = await openShop(engine, clerk.environment);
    const [email, subject] = ["ceo@example.com", "user_2ceo"];
    const terms = ["--trial-ends", "2026-01-01", "--subject", subject];
    const { id } = await shop.service.adminJson<{ id: string }>("account", "add", email, ...terms);
    const browser = new Browser(shop.service);
    const buyer = { id, email, browser };
    browser.cookies.set("__session", clerk.mint());
    const { session, subscription } = await shop.buy(buyer);
    expect((await browser.open(`/home/checkout/return?session=${session}`)).headers.location).toBe(
      "/home/billing?checkout=bought",
    );
    expect(await shop.termsOf(buyer)).toMatchObject({ plan: "licensed" });
    const deleted = { type: "user.deleted", data: makeDeletedUser(subject) } as const;
    shop.stripe.faultOf = () => "500";
    expect((await clerk.deliver(shop.service, deleted)).status, "Clerk comes again").toBe(503);
    shop.stripe.faultOf = () => "none";
    expect((await clerk.deliver(shop.service, deleted)).status).toBe(204);
    expect(shop.stripe.subscriptions.get(subscription)?.status).toBe("canceled");
    await shop.close();
    await clerk.stop();
  });
});

describe("a deployment without billing", async () => {
  const NODE_OPTIONS = "--import ./tests/support/loaded.mjs";
  const service = await startService({ SIGN_IN: "local", NODE_OPTIONS });

  it("refuses its forms, the portal and the webhook with 503 billing_not_configured", async () => {
    await service.adminJson("account", "add", "ceo@example.com");
    const browser = await Browser.signIn(service, "ceo@example.com");
    const refused = { status: 503, code: "billing_not_configured" } as const;
    for (const path of ["/home/checkout", "/home/portal"]) {
      expectApiError(await browser.submit(path), refused);
      const toPage = await browser.submit(path, {}, forPeople);
      expect(toPage.headers.location).toBe("/home/billing?problem=billing_not_configured");
    }
    expectRefusal(service, await service.ask("/hooks/stripe", { method: "POST", body: "{}" }), refused);
    const { text } = await browser.open("/home");
    expect(text).not.toMatch(/Choose a plan|Buy/);
    expect(text).toContain("For a plan, ask the person who invited you");
  });

  it("does not load the library, with all pages and commands", async () => {
    expect(service.log).toContain("loaded node:sqlite");
    expect(service.log).not.toContain("loaded stripe");
  });

  it("loads it when billing is set up and first used", async () => {
    const set = await Service.start({
      NODE_OPTIONS,
      APP_URL: "http://localhost:3000",
      STRIPE_SECRET_KEY: "sk_test_x",
      STRIPE_WEBHOOK_SECRET: "whsec_x",
      STRIPE_LICENCE_PRICES: "price_x",
    });
    expect(set.log).not.toContain("loaded stripe");
    const headers = { "stripe-signature": `t=1,v1=${"0".repeat(64)}` };
    const forged = await set.ask("/hooks/stripe", { method: "POST", body: "{}", headers });
    expectRefusal(set, forged, { status: 400, code: "invalid_signature" });
    expect(set.log).toContain("loaded stripe");
    await set.stop();
  });
});
