import { describe, expect, it } from "vitest";
import { startShop } from "@/tests/support/block";
import { engines } from "@/tests/support/engines";
import type { Price } from "@/tests/support/stripe-stand-in";

describe.each(engines.slice(0, 1))("the amounts on pages", async (engine) => {
  const shop = await startShop(engine);
  const { stripe } = shop;

  const priceOf = (id: string) => stripe.prices.get(id) ?? expect.fail(`no ${id}`);
  const setPrice = (id: string, changed: Partial<Price>) =>
    stripe.prices.set(id, { ...priceOf(id), ...changed });
  /** What is shown of a page, in which blanks that do not break are blanks. */
  const wordsIn = (text: string) => text.replaceAll(/<[^>]+>/g, "").replaceAll("\u00a0", " ");

  it("are in the unit in which Stripe counts the currency", async () => {
    setPrice("price_month", { currency: "huf", unit_amount: 999_000 });
    setPrice("price_team", { currency: "kwd", unit_amount: 99_120 });
    setPrice("price_pack", { currency: "idr", unit_amount: 14_900_000 });
    const buyer = await shop.admit("--plan", "licensed");
    expect(wordsIn((await buyer.browser.open("/home/billing")).text)).toContain("IDR 149,000");
    const front = wordsIn((await shop.service.ask("/")).text);
    expect(front).toContain("HUF 9,990 a month");
    expect(front).toContain("KWD 99.120 a year");
  });
});
