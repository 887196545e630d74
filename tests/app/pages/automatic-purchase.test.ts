import { afterAll, afterEach, describe, expect, it, onTestFinished } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { leaseMs, openAutomaticPurchases } from "@/tests/support/automatic-purchases";
import { withBackendApi } from "@/tests/support/backend-caller";
import { startShop } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { ClerkInstance } from "@/tests/support/clerk-instance";
import { eventually } from "@/tests/support/databases";
import { engines } from "@/tests/support/engines";
import { mailsTo } from "@/tests/support/mailbox";
import { type Buyer, openShop } from "@/tests/support/shop";

const keptMs = 11 * 60_000; // longer than prices are kept

describe.each(engines)("automatic purchases of credits, on $name", async (engine) => {
  const prices = { STRIPE_CREDIT_PRICES: "price_pack,price_lost" };
  const shop = await startShop(engine, await withBackendApi(prices));
  const { service, stripe, stage } = shop;
  const owners = await openAutomaticPurchases(shop);
  const { customerOf, cardOf, start, prove, admit, spend, page } = owners;
  const { balanceOf, invoicesOf, statesOf, paid, stopMails, round } = owners;
  const payFault = (fault: "400" | "500") => (request: string) =>
    request.endsWith("/pay") ? fault : ("none" as const);
  afterEach(() => {
    stripe.faultOf = () => "none";
    stripe.whenDone = () => {};
    stripe.takeEvents();
  });

  it("are named in the mail about few credits, which says else that nothing is charged", async () => {
    const [buyer, other] = [await admit(150), (await shop.admitLicensed("--credits", "150")).buyer];
    const [leaver, lapsed] = [await admit(150), await admit(150)];
    for (const { id, browser } of [buyer, other, leaver, lapsed])
      await browser.submit("/home/credits/limits", { account: id, limit: "", below: "120" });
    await leaver.browser.submit("/home/account/delete", { account: leaver.id });
    await stage.query(`UPDATE accounts SET plan = 'hobby' WHERE id = '${lapsed.id}'`);
    const costs = async ({ email }: Buyer) =>
      (await mailsTo(service.dataDir, email)).flatMap(({ subject = "", text = "" }) =>
        subject.includes("fewer than") ? [/^Cost: .*(?:\n.+)*?(?=\n\w+: |\n\n)/m.exec(text)?.[0]] : [],
      );
    for (const one of [buyer, other, leaver, lapsed]) await spend(one, "60");
    await eventually(async () =>
      expect([await costs(buyer), await costs(other), await costs(leaver), await costs(lapsed)]).toEqual([
        [
          expect.stringMatching(
            /^Cost: 500 credits for €10, bought automatically\s+unless this month has had as many as you allow$/,
          ),
        ],
        ["Cost: Nothing, unless you buy more"],
        ["Cost: Nothing"],
        ["Cost: Nothing"],
      ]),
    );
    await round();
    expect([await balanceOf(buyer), await balanceOf(other)]).toEqual([590, 90]);
  });

  it("are off until the owner turns them on in the browser, with a fresh proof", async () => {
    const { buyer } = await shop.admitLicensed("--credits", "150");
    shop.pass(6 * 60_000);
    expect(await page(buyer)).toContain("To turn it on, confirm that it is you:");
    const html = { accept: "text/html" };
    expect((await start(buyer, {}, html)).headers.location).toBe("/home/billing?problem=confirm#ways");
    await round();
    await spend(buyer, "100");
    await round();
    expect([statesOf(buyer), await balanceOf(buyer)]).toEqual([[], 50]);
    expect(await prove(buyer)).toBe("/home/billing?automatic#automatic");
    for (const [fields, code] of [
      [{ most: "" }, "limit_required"],
      [{ most: "0" }, "limit_failed"],
      [{ most: "1000" }, "limit_failed"],
      [{ below: "" }, "limit_failed"],
      [{ below: "0" }, "limit_failed"],
      [{ below: "500.001" }, "limit_failed"],
      [{ credits: "price_month" }, "invalid_request"],
    ] as const) {
      const { status, text } = await start(buyer, fields);
      expect([fields, status, JSON.parse(text).error.code]).toEqual([fields, 400, code]);
    }
    const words = (await buyer.browser.open("/home/billing?problem=limit_required")).text;
    expect(words).toContain(
      "A spending limit has to be set first. Say how often a month credits may be bought",
    );
    const card = cardOf(buyer);
    stripe.cards.delete(customerOf(buyer));
    expect((await start(buyer)).headers.location).toBe("/home/billing?problem=no-card");
    expect(await page(buyer)).not.toContain("Turn it off");
    stripe.cards.set(customerOf(buyer), card);
    expect((await start(buyer)).headers.location).toBe("/home/billing?automatic#automatic");
    const text = await page(buyer);
    expect(text).toContain("<dd>500 credits, €10</dd>");
    expect(text).toContain("<dt>And charges</dt><dd>Visa ending in 4242 (expires 08/27)</dd>");
    expect(text).toContain("<dt>This month</dt><dd>0 of at most 3</dd>");
    const token = await service.token(buyer.email);
    const asProgram = { authorization: `Bearer ${token}` };
    expect((await start(buyer, {}, asProgram)).status).toBe(403);
    await round();
    expect(statesOf(buyer), "nothing was spent since").toEqual([]);
    const end = { account: buyer.id };
    await buyer.browser.submit("/home/credits/automatic/end", end);
    await spend(buyer, "1");
    await round();
    expect(statesOf(buyer)).toEqual([]);
    expect(
      (await service.audit(buyer.email)).filter(({ what }) => what === "automatic purchase"),
    ).toMatchObject([
      { who: "owner", after: { top_up_price: null } },
      {
        who: "owner",
        after: { top_up_price: "price_pack", top_up_below_thousandths: 100_000, top_up_most: 3 },
      },
    ]);
  });

  it("name the card that they would charge, or that there is none, and nothing that Stripe does not say", async () => {
    const { buyer } = await shop.admitLicensed("--credits", "150");
    const card = cardOf(buyer);
    const said = async () => {
      shop.pass(keptMs);
      return /charges (.*?) without asking again\.<\/p>(?:<p>(You have no[^<]*))?/
        .exec(await page(buyer))
        ?.slice(1);
    };
    expect(await said()).toEqual(["your Visa ending in 4242 (expires 08/27)", undefined]);
    stripe.cards.set(customerOf(buyer), { ...card, isByLink: true });
    expect(await said()).toEqual(["your Link", undefined]);
    stripe.faultOf = () => "500";
    expect(await said()).toEqual(["your saved card", undefined]);
    stripe.faultOf = () => "none";
    stripe.cards.delete(customerOf(buyer));
    expect(await said()).toEqual([
      "your saved card",
      "You have no saved card: add one under “Manage billing” first.",
    ]);
  });

  it("charge Link, with which Checkout lets its buyers pay", async () => {
    const { buyer } = await shop.admitLicensed("--credits", "150");
    for (const isDefault of [false, true]) {
      stripe.cards.set(customerOf(buyer), { ...cardOf(buyer), isDefault, isByLink: true });
      expect(await prove(buyer)).toBe("/home/billing?automatic#automatic");
      expect((await start(buyer)).headers.location).toBe("/home/billing?automatic#automatic");
    }
    await spend(buyer, "100");
    await round();
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([1, 550]);
  });

  it("buy one pack when a spend leaves fewer, with the saved card, and not again until that happens again", async () => {
    const [buyer, other] = [await admit(150), await admit(150)];
    await round();
    await spend(buyer, "50");
    await round();
    expect(statesOf(buyer), "100 are not below 100").toEqual([]);
    for (let n = 0; n < 5; n++) await spend(buyer, "1");
    await round();
    expect([statesOf(buyer), paid(buyer), await balanceOf(buyer)]).toEqual([["paid"], 1, 595]);
    await round();
    await shop.deliverAll();
    await spend(buyer, "400");
    await round();
    expect(paid(buyer)).toBe(1);
    expect(await page(buyer)).toContain("bought automatically (€10.00)");
    const [invoice] = invoicesOf(buyer);
    const history = await service.adminJson<object[]>("credits", "history", buyer.email);
    expect(history).toContainEqual(
      expect.objectContaining({ reason: "bought automatically", paid: "10.00", checkout: invoice?.id }),
    );
    await spend(buyer, "150");
    await round();
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([2, 545]);
    expect([statesOf(other), await balanceOf(other)]).toEqual([[], 150]);
    expect(await stopMails(buyer)).toEqual([]);
  });

  it("buy one also for work that is refused, where they were turned on with too few credits", async () => {
    const [buyer, other] = [await admit(3), await admit(3)];
    expect((await spend(buyer, "5")).status).toBe(409);
    await round();
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([1, 503]);
    expect((await spend(buyer, "5")).status).toBe(200);
    expect((await spend(buyer, "1000")).status).toBe(409);
    await round();
    expect(paid(buyer), "there are as many as the owner wants").toBe(1);
    expect(paid(other), "no work was refused").toBe(0);
  });

  it("are taxed where the settings say so, and nowhere else", async () => {
    const taxed = await openShop(engine, { ...(await withBackendApi()), STRIPE_TAX: "automatic" });
    onTestFinished(taxed.close);
    const there = await openAutomaticPurchases(taxed);
    for (const [seller, isTaxed] of [
      [owners, false],
      [there, true],
    ] as const) {
      const buyer = await seller.admit(150);
      await seller.spend(buyer, "60");
      await seller.round();
      // The server may have begun the purchase by itself, so that the round waits for nothing.
      await eventually(() =>
        expect(seller.invoicesOf(buyer)).toMatchObject([{ automatic_tax: { enabled: isTaxed } }]),
      );
    }
  });

  it("are made by the server itself, without a command, and below as many as the pack has", async () => {
    const buyer = await admit(150, { below: "500" });
    await round();
    await spend(buyer, "60");
    await eventually(async () => expect(await balanceOf(buyer)).toBe(590));
    expect(paid(buyer)).toBe(1);
  });

  it("are gone on with by the instance alone that has taken them", async () => {
    const both = [await admit(150), await admit(150)];
    await round();
    const isMade = (request: string) => request === "POST /v1/invoices";
    stripe.faultOf = (request) => (isMade(request) ? "reset" : "none");
    for (const buyer of both) await spend(buyer, "60");
    await shop.reconcile();
    await service.stop(); // whose own round could take one of them
    onTestFinished(() => service.run());
    const { promise: hasCome, resolve: come } = Promise.withResolvers<void>();
    const { promise: free, resolve: letGo } = Promise.withResolvers<void>();
    stripe.whenDone = (request) => {
      if (!isMade(request)) return;
      come();
      return free;
    };
    stripe.faultOf = () => "none";
    shop.pass(leaseMs + 1000);
    const going = round();
    await hasCome;
    // Meanwhile another instance takes the other one.
    const ids = both.map(({ id }) => `'${id}'`).join();
    await stage.query(
      `UPDATE billing_checkouts SET last_event_at_ms = ${stripe.nowMs()} WHERE kind = 'top-up' AND account_id IN (${ids})`,
    );
    letGo();
    await going;
    expect(both.reduce((sum, buyer) => sum + paid(buyer), 0)).toBe(1);
    shop.pass(leaseMs + 1000);
    await round();
    expect(both.map(paid)).toEqual([1, 1]);
  });

  it("buy no more often a month than its owner says, and go on with the next month", async () => {
    const buyer = await admit(150, { most: "1" });
    await round();
    await spend(buyer, "60");
    await round();
    await spend(buyer, "500");
    await round();
    await round();
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([1, 90]);
    expect(await page(buyer)).toContain("The next one is bought from 1 ");
    const now = new Date(stripe.nowMs());
    shop.pass(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - stripe.nowMs() + 60_000);
    await round();
    await round();
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([2, 590]);
  });

  it.each([
    ["declined", "Your card was declined, and you were not charged."],
    ["confirmation", "Your bank wants you to confirm each payment"],
    ["action", "Your bank wants you to confirm each payment"],
  ] as const)(
    "are turned off by a card that is %s, with a mail, after one attempt",
    async (answer, words) => {
      const buyer = await admit(150);
      cardOf(buyer).answer = answer;
      await round();
      for (let n = 0; n < 3; n++) {
        await spend(buyer, "60");
        await round();
        shop.pass(leaseMs + 1000);
      }
      expect([statesOf(buyer), stripe.intents.size > 0]).toEqual([["void"], true]);
      expect(
        stripe.requests.filter((request) => request === `POST /v1/invoices/${invoicesOf(buyer)[0]?.id}/pay`),
      ).toHaveLength(1);
      const text = await page(buyer);
      expect(text).toContain("It was turned off.");
      expect(text).toContain(words);
      await eventually(async () => {
        await service.admin("emails", "send-due");
        expect(await stopMails(buyer)).toHaveLength(1);
      });
      expect((await stopMails(buyer))[0]?.text).toContain(words);
      cardOf(buyer).answer = "paid";
      await round();
      expect([paid(buyer), await balanceOf(buyer)]).toEqual([0, 30]);
      // On again, with a proof.
      await prove(buyer);
      await start(buyer);
      await spend(buyer, "1");
      await round();
      // The server may have begun the purchase by itself, so that the round waits for nothing.
      await eventually(async () => expect([paid(buyer), await balanceOf(buyer)]).toEqual([1, 529]));
      expect(await page(buyer)).not.toContain("It was turned off.");
    },
  );

  it("are turned off by an invoice that Stripe refuses, with a mail whose id finds Stripe's words in the log", async () => {
    const buyer = await admit(150);
    await round();
    stripe.faultOf = (request) => (request === "POST /v1/invoices" ? "400" : "none");
    await spend(buyer, "60");
    await eventually(async () => {
      await service.admin("emails", "send-due");
      expect(await stopMails(buyer)).toHaveLength(1);
    });
    const [mail] = await stopMails(buyer);
    expect(mail?.text).toContain("Stripe did not take the payment, and you were not charged.");
    const [, id] = /^Reference: ([\w-]{36})$/m.exec(mail?.text ?? "") ?? [];
    await eventually(() => {
      const line = service.log.split("\n").find((line) => line.includes(`"id":"${id}"`));
      expect(line).toContain("Stripe: This cannot be read.");
      expect(line).toContain("Stripe refused an automatic purchase");
    });
  });

  it.each([
    [
      "their owner turns them off",
      ({ browser, id }: Buyer) => browser.submit("/home/credits/automatic/end", { account: id }),
    ],
    ["the saved card goes", (buyer: Buyer) => stripe.cards.delete(customerOf(buyer))],
    ["Stripe refuses their payment", () => Object.assign(stripe, { faultOf: payFault("400") })],
  ])("that Stripe did not answer end without a charge where %s meanwhile", async (_, happens) => {
    const buyer = await admit(150);
    await round();
    stripe.faultOf = payFault("500");
    await spend(buyer, "60");
    await round();
    // The server may have begun the purchase by itself, so that the round waits for nothing.
    await eventually(() => expect([statesOf(buyer), paid(buyer)]).toEqual([["open"], 0]));
    stripe.faultOf = () => "none";
    await happens(buyer);
    shop.pass(leaseMs + 1000);
    await round();
    await eventually(() => expect(statesOf(buyer)).toEqual(["void"]));
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([0, 90]);
    expect(await page(buyer)).not.toContain("Turn it off");
  });

  it("wait for a bank that thinks, and neither charge again nor give credits meanwhile", async () => {
    const buyer = await admit(150);
    cardOf(buyer).answer = "processing";
    await round();
    await spend(buyer, "60");
    const due = `SELECT account_id FROM credit_limits WHERE account_id = '${buyer.id}' AND top_up_due_ms IS NOT NULL`;
    for (let n = 0; n < 3; n++) {
      await round();
      expect(await stage.query(due), "the open one is the one that is due").toEqual([]);
      await spend(buyer, "1");
      shop.pass(leaseMs + 1000);
    }
    expect([statesOf(buyer), await balanceOf(buyer)]).toEqual([["open"], 87]);
    stripe.finishProcessing(invoicesOf(buyer)[0]?.id ?? "");
    await round();
    expect([statesOf(buyer), await balanceOf(buyer)]).toEqual([["paid"], 587]);
  });

  it("are found again by a store that has lost them, and not charged a second time", async () => {
    const buyer = await admit(150);
    await round();
    await spend(buyer, "60");
    await round();
    expect(paid(buyer)).toBe(1);
    // As a backup has it: the spend, and nothing of the purchase.
    const account = `account_id = '${buyer.id}'`;
    await stage.query(`DELETE FROM credit_entries WHERE ${account} AND reason = 'bought automatically'`);
    await stage.query(`DELETE FROM billing_checkouts WHERE ${account} AND kind = 'top-up'`);
    await stage.query(`DELETE FROM billing_payments WHERE ${account} AND amount = 1000`);
    await stage.query(`UPDATE accounts SET credit_thousandths = 90000 WHERE id = '${buyer.id}'`);
    await stage.query(`UPDATE credit_limits SET top_up_due_ms = 1 WHERE ${account}`);
    await eventually(async () => {
      await shop.reconcile();
      expect(await balanceOf(buyer)).toBe(590);
    });
    await shop.reconcile();
    expect([paid(buyer), await balanceOf(buyer)]).toEqual([1, 590]);
  });

  it("are begun for all others where Stripe has a pack no more, or does not say what it gives", async () => {
    const wanting = [await admit(150), await admit(150), await admit(150)];
    const buyer = await admit(150);
    for (const { id } of wanting)
      await stage.query(
        `UPDATE credit_limits SET top_up_price = 'price_lost', top_up_due_ms = 1 WHERE account_id = '${id}'`,
      );
    await spend(buyer, "60");
    await round();
    await round();
    expect(await balanceOf(buyer)).toBe(590);
    const ids = wanting.map(({ id }) => `'${id}'`).join();
    await stage.query(`UPDATE credit_limits SET top_up_price = NULL WHERE account_id IN (${ids})`);
  });

  it("take a refund's credits back, and are turned off by it, as by a dispute", async () => {
    const [refunded, disputed] = [await admit(150), await admit(150)];
    await round();
    for (const buyer of [refunded, disputed]) await spend(buyer, "60");
    await round();
    const chargeOf = (buyer: Buyer) =>
      [...stripe.charges.values()].find(
        ({ customer, amount }) => customer === customerOf(buyer) && amount === 1000,
      ) ?? expect.fail("no charge");
    stripe.refundCharge(chargeOf(refunded), 500);
    stripe.dispute(chargeOf(disputed));
    await shop.deliverAll();
    expect([await balanceOf(refunded), await balanceOf(disputed)]).toEqual([340, 590]);
    for (const buyer of [refunded, disputed]) {
      await spend(buyer, "300");
      await round();
      expect(paid(buyer)).toBe(1);
      expect(await page(buyer)).toContain("A payment for credits was returned or disputed.");
    }
  });

  it("leave a limit that is set later to count what the month spent before they were turned on", async () => {
    const { buyer } = await shop.admitLicensed("--credits", "150");
    await spend(buyer, "8");
    await prove(buyer);
    expect((await start(buyer)).headers.location).toBe("/home/billing?automatic#automatic");
    await spend(buyer, "1");
    await buyer.browser.submit("/home/credits/limits", { account: buyer.id, limit: "10", below: "" });
    expect(await page(buyer)).toContain("This month used 9 of 10 credits.");
    expect(await spend(buyer, "2")).toMatchObject({ status: 409, left: 1 });
  });

  it("take back the part of a pack that was returned, where a balance at Stripe has paid another", async () => {
    const buyer = await admit(150);
    stripe.credits.set(customerOf(buyer), 400);
    await round();
    await spend(buyer, "60");
    await round();
    const [invoice] = invoicesOf(buyer);
    expect(invoice).toMatchObject({ status: "paid", total: 1000, amount_paid: 600 });
    const charge =
      [...stripe.charges.values()].find(({ amount }) => amount === 600) ?? expect.fail("no charge");
    stripe.refundCharge(charge, 300);
    await shop.deliverAll();
    expect(await balanceOf(buyer), "three of ten euros, of 500 credits").toBe(440);
    stripe.refundCharge(charge, 300);
    await shop.deliverAll();
    expect(await balanceOf(buyer)).toBe(290);
    const history = await service.adminJson<{ paid: string | null }[]>("credits", "history", buyer.email);
    expect(history.flatMap(({ paid }) => paid ?? [])).toEqual(["10.00", "-3.00", "-3.00"]);
  });

  it("are in the currency of the licence, or of the pack if that has no other", async () => {
    const [pack, there] = [stripe.prices.get("price_pack") ?? expect.fail("no pack"), "usd"];
    onTestFinished(() => {
      delete pack.currency_options;
      shop.pass(keptMs);
    });
    for (const currency of ["eur", there]) {
      const buyer = await admit(150);
      const licence = [...stripe.subscriptions.values()].find(
        ({ customer }) => customer === customerOf(buyer),
      );
      Object.assign(licence ?? expect.fail("no licence"), { currency: there });
      await round();
      await spend(buyer, "60");
      await round();
      // The server may have begun the purchase by itself, so that the round waits for nothing.
      await eventually(async () => expect(await balanceOf(buyer)).toBe(590));
      expect(invoicesOf(buyer)).toMatchObject([{ status: "paid", currency }]);
      pack.currency_options = { eur: { unit_amount: 1000 }, usd: { unit_amount: 1100 } } as never;
      shop.pass(keptMs);
    }
  });

  it("are not made for an account that is left, or has no licence", async () => {
    const [leaver, lapsed] = [await admit(150), await admit(150)];
    await round();
    await leaver.browser.submit("/home/account/delete", { account: leaver.id });
    await stage.query(`UPDATE accounts SET plan = 'hobby' WHERE id = '${lapsed.id}'`);
    for (const buyer of [leaver, lapsed]) await spend(buyer, "60");
    await round();
    for (const buyer of [leaver, lapsed]) expect([statesOf(buyer), paid(buyer)]).toEqual([[], 0]);
    expect(await page(lapsed), "also of those to whom none are sold").toContain("Turn it off");
    shop.pass(dayMs / 2);
  });

  it("are in the export, and charge no one who was erased", async () => {
    const buyer = await admit(150);
    await round();
    const exported = await service.adminJson<{ creditLimits: object }>("person", "export", buyer.email);
    expect(exported.creditLimits).toMatchObject({
      automaticPurchase: { price: "price_pack", below: 100, most: 3, stopped: null },
    });
    await spend(buyer, "60");
    const customer = customerOf(buyer);
    await service.adminJson("person", "erase", buyer.email);
    await round();
    const made = [...stripe.invoices.values()].filter(
      (one) => one.customer === customer && one.metadata?.top_up,
    );
    expect(made).toEqual([]);
  });
});

describe.each(engines.slice(0, 1))("automatic purchases of credits, under Clerk", async (engine) => {
  const clerk = await ClerkInstance.start();
  afterAll(() => clerk.stop());
  const shop = await startShop(engine, { ...clerk.environment, ...(await withBackendApi()) });
  const owners = await openAutomaticPurchases(shop);

  it("are turned on by an owner who has just signed in there, and by no one who is signed in for them", async () => {
    const email = "ceo@example.com";
    const { id } = await shop.service.adminJson<{ id: string }>(
      "account",
      "add",
      email,
      "--subject",
      "user_2ceo",
    );
    const browser = new Browser(shop.service);
    const buyer = { id, email, browser };
    const signIn = (claims: object) => browser.cookies.set("__session", clerk.mint(claims));
    signIn({});
    await shop.buy(buyer);
    await shop.deliverAll();
    for (const claims of [
      {},
      { fva: [5, -1] },
      { fva: [4, 0] },
      { fva: [-1, 0] },
      { fva: null },
      { fva: "0" },
    ]) {
      signIn(claims);
      const { text } = await browser.open("/home/billing");
      expect(text, JSON.stringify(claims)).toContain("“Sign out”, sign in again, and come back here");
      expect(text).not.toContain("At most this many times a month");
      const refused = await owners.start(buyer, {}, { accept: "text/html" });
      expect(refused.headers.location).toBe("/home/billing?problem=confirm#ways");
    }
    signIn({ fva: [0, -1], act: { sub: "user_2support" } });
    const refused = await owners.start(buyer);
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([403, "forbidden"]);
    expect(await shop.service.audit(email)).toContainEqual(
      expect.objectContaining({ who: "impersonator user_2support", what: "automatic purchase refused" }),
    );
    signIn({ fva: [3, -1] });
    expect((await browser.open("/home/billing")).text).toContain("At most this many times a month");
    expect((await owners.start(buyer)).headers.location).toBe("/home/billing?automatic#automatic");
    signIn({});
    expect((await browser.open("/home/billing")).text).toContain("Turn it off");
    await browser.submit("/home/credits/automatic/end", { account: id });
    expect((await browser.open("/home/billing")).text).toContain("<b>Off</b>");
  });
});
