import { expect } from "vitest";
import { BackendCaller } from "@/tests/support/backend-caller";
import { mailsTo } from "@/tests/support/mailbox";
import type { Buyer, Shop } from "@/tests/support/shop";

/** Owners who let credits be bought automatically in a shop whose service has a backend API. */
export async function openAutomaticPurchases(shop: Shop) {
  const { service, stripe } = shop;
  const worker = await BackendCaller.add(service, "worker");
  worker.nowMs = () => stripe.nowMs();
  const customerOf = ({ id }: Buyer) =>
    [...stripe.customers.values()].find(({ account }) => account === id)?.id ?? expect.fail("no customer");
  const cardOf = (buyer: Buyer) => stripe.cards.get(customerOf(buyer)) ?? expect.fail("no card");
  const start = (buyer: Buyer, fields: Record<string, string> = {}, headers = {}) =>
    buyer.browser.submit(
      "/home/credits/automatic",
      { account: buyer.id, credits: "price_pack", below: "100", most: "3", ...fields },
      headers,
    );
  const prove = ({ browser, email }: Buyer) =>
    browser.redeem(email, { back: "/home/billing?automatic#automatic" });
  /** An owner with a licence, credits and a fresh proof who has turned it on. */
  const admit = async (credits: number, fields: Record<string, string> = {}) => {
    const { buyer } = await shop.admitLicensed("--credits", String(credits));
    expect(await prove(buyer)).toBe("/home/billing?automatic#automatic");
    expect((await start(buyer, fields)).headers.location).toBe("/home/billing?automatic#automatic");
    return buyer;
  };
  const spend = async ({ id }: Buyer, credits: string) => {
    const { status, text } = await worker.post(`/v1/accounts/${id}/spends`, { credits, reason: "A page" });
    return { status, ...JSON.parse(text) };
  };
  const page = async ({ browser }: Buyer) => {
    await browser.post("/sign-in/renew");
    return (await browser.open("/home/billing")).text;
  };
  const balanceOf = async (buyer: Buyer) => (await shop.termsOf(buyer)).credits;
  /** The invoices of automatic purchases of a buyer, with what became of them. */
  const invoicesOf = (buyer: Buyer) =>
    [...stripe.invoices.values()].filter(
      ({ customer, metadata }) => customer === customerOf(buyer) && metadata?.top_up,
    );
  const statesOf = (buyer: Buyer) => invoicesOf(buyer).map(({ status }) => status);
  const paid = (buyer: Buyer) =>
    [...stripe.charges.values()].filter(
      ({ customer, amount }) => customer === customerOf(buyer) && amount === 1000,
    ).length;
  const stopMails = async ({ email }: Buyer) =>
    (await mailsTo(service.dataDir, email)).filter(({ subject = "" }) =>
      subject.includes("Automatic purchases of credits are off"),
    );
  /** A round of what the server does by itself. */
  const round = async () => expect(await shop.reconcile()).toMatchObject({ failed: 0 });

  return {
    customerOf,
    cardOf,
    start,
    prove,
    admit,
    spend,
    page,
    balanceOf,
    invoicesOf,
    statesOf,
    paid,
    stopMails,
    round,
  };
}

/** So long no other instance goes on with a purchase. */
export const leaseMs = 2 * 60_000;
