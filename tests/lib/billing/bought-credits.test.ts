import { describe, expect, it } from "vitest";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import { OfficeBrowser } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";
import type { Buyer } from "@/tests/support/shop";

describe.each(engines)("credits that were bought, on $name", async (engine) => {
  const shop = await startShop(engine, { OFFICE_PORT: String(await reservePort()) });
  const { service, stripe } = shop;
  const office = await OfficeBrowser.enrol(service, "ann");

  const buyPack = async (buyer: Buyer) => {
    const { session } = await shop.buy(buyer, { credits: "price_pack" });
    await shop.deliverAll();
    return session;
  };
  const historyOf = ({ email }: Buyer) =>
    service.adminJson<Record<string, unknown>[]>("credits", "history", email);
  const creditsIn = (text: string) => text.slice(text.indexOf('id="credits"')).split("</ol>", 1)[0];

  it("say in the ledger for which checkout, price and amount, and what of it was returned", async () => {
    const { buyer } = await shop.admitLicensed("--credits", "7");
    const session = await buyPack(buyer);
    stripe.refund(session, 250);
    await shop.deliverAll();
    stripe.refund(session, 100);
    await shop.deliverAll();
    stripe.failRefund(stripe.chargeOf(session), 100);
    await shop.deliverAll();
    const ofPack = { currency: "EUR", price: "price_pack", checkout: session };
    const history = await historyOf(buyer);
    expect(history).toMatchObject([
      { credits: 7, paid: null, currency: null, price: null, checkout: null },
      { credits: 500, reason: "bought", paid: "10.00", ...ofPack },
      { credits: -125, reason: "refunded", paid: "-2.50", ...ofPack },
      { credits: -50, reason: "refunded", paid: "-1.00", ...ofPack },
      { credits: 50, reason: "refund failed", paid: "1.00", ...ofPack },
    ]);
    const exported = await service.adminJson<{ credits: object[] }>("person", "export", buyer.email);
    expect(exported.credits).toEqual(history);
    const { stdout } = await service.admin("credits", "history", buyer.email);
    expect(stdout).toMatch(
      /^credits +reason +at +balance +paid +currency +price +checkout +backend +reference *\n/,
    );

    const owner = creditsIn((await buyer.browser.open("/home/billing")).text);
    for (const words of ["bought (€10.00)", "refunded (€2.50)", "refund failed (€1.00)"])
      expect(owner).toContain(`<span>${words}</span>`);
    expect(owner, "an id is of no use to an owner").not.toContain(session);
    const { text } = await office.open(`/account?email=${buyer.email}`);
    expect(text).toContain("<bdi>bought (€10.00)</bdi>");
    expect(text).toContain(`price_pack ${session}`);
  });

  it("are given where a coupon has taken off all of the price", async () => {
    const { buyer } = await shop.admitLicensed();
    const { session } = await shop.buy(buyer, { credits: "price_pack" });
    const free = { payment_status: "no_payment_required", payment_intent: null, amount_total: 0 };
    Object.assign(stripe.sessions.get(session) ?? {}, free);
    await shop.deliverAll();
    expect(await historyOf(buyer)).toMatchObject([{ credits: 500, reason: "bought", paid: "0.00" }]);
  });

  it("say what came back also if all did, and in the currency of the price if the charge has another", async () => {
    const { buyer } = await shop.admitLicensed();
    const session = await buyPack(buyer);
    const charge = stripe.chargeOf(session);
    Object.assign(charge, { currency: "usd", amount: 1200 });
    stripe.refundCharge(charge, 300);
    await shop.deliverAll();
    stripe.refundCharge(charge);
    await shop.deliverAll();
    stripe.failRefund(charge, 1200);
    await shop.deliverAll();
    expect((await historyOf(buyer)).map(({ credits, paid, currency }) => [credits, paid, currency])).toEqual([
      [500, "10.00", "EUR"],
      [-125, "-2.50", "EUR"],
      [-375, "-7.50", "EUR"],
      [500, "10.00", "EUR"],
    ]);
  });

  it("say what came back of one pack, whatever was paid for another", async () => {
    const { buyer } = await shop.admitLicensed();
    const [kept, returned] = [await buyPack(buyer), await buyPack(buyer)];
    stripe.refund(returned, 250);
    await shop.deliverAll();
    expect((await historyOf(buyer)).map(({ credits, paid, checkout }) => [credits, paid, checkout])).toEqual([
      [500, "10.00", kept],
      [500, "10.00", returned],
      [-125, "-2.50", returned],
    ]);
  });

  it("say in the audit for which checkout, price and amount a balance changed, and only then", async () => {
    const { buyer } = await shop.admitLicensed();
    const session = await buyPack(buyer);
    stripe.refund(session, 250);
    await shop.deliverAll();
    const entries = await service.adminJson<{ what: string; after: object | null }[]>(
      ...["audit", "list", "--of", buyer.email, "--who", "stripe"],
    );
    const sale = { price: "price_pack", checkout: session, paid: "€10.00" };
    expect(entries.map(({ what, after }) => [what, after])).toEqual([
      ["credits refunded", { credit_thousandths: 375_000, ...sale, returned: "€2.50" }],
      ["credits", { credit_thousandths: 500_000, ...sale }],
      ["subscription active", expect.not.objectContaining({ price: expect.anything() })],
    ]);
    const { text } = await office.open(`/account?email=${buyer.email}`);
    expect(text).toContain(`credits 0 → 500, price price_pack, checkout ${session}, paid €10.00`);
  });

  it("are still in the ledger and the audit after an erasure, without the id of the checkout", async () => {
    const { buyer } = await shop.admitLicensed();
    const session = await buyPack(buyer);
    const neighbour = await shop.admitLicensed();
    const theirs = await buyPack(neighbour.buyer);
    await service.adminJson("person", "erase", buyer.email);
    const ledger = await shop.stage.query(
      "SELECT checkout, price_id, CAST(amount AS integer) AS amount FROM credit_entries WHERE account_id LIKE 'acc_%' AND thousandths = 500000",
    );
    expect(ledger).toContainEqual({ checkout: null, price_id: "price_pack", amount: 1000 });
    expect(ledger).toContainEqual({ checkout: theirs, price_id: "price_pack", amount: 1000 });
    const audit = await shop.stage.query("SELECT what, after FROM audit_entries WHERE what LIKE 'credits%'");
    expect(audit.filter(({ after }) => String(after).includes(session))).toEqual([]);
    expect(audit.filter(({ after }) => String(after).includes(theirs))).toHaveLength(1);
    expect(audit.map(({ after }) => JSON.parse(String(after)))).toContainEqual({
      credit_thousandths: 500_000,
      price: "price_pack",
      checkout: "(erased)",
      paid: "€10.00",
    });
  });
});
