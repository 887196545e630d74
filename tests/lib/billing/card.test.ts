import { expect, it } from "vitest";
import { cardInWords, toCard } from "@/lib/billing/customer/card";

it("a card pays to the end of its month, in UTC, and then it is expired", () => {
  const card = toCard({
    card: { brand: "amex", display_brand: "american_express", last4: "0005", exp_year: 2027, exp_month: 12 },
  } as never);
  const said = (atMs: number) => card && cardInWords(card, atMs);
  expect(said(Date.UTC(2028, 0) - 1)).toBe("American Express ending in 0005 (expires 12/27)");
  expect(said(Date.UTC(2028, 0))).toBe("American Express ending in 0005 (expired 12/27)");
});
