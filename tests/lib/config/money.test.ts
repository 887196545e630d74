import { describe, expect, it } from "vitest";
import { moneyAsDecimal, moneyInWords, priceInWords } from "@/lib/config/money";

/*
 * What https://docs.stripe.com/currencies says of "Supported presentment currencies", as of November 2026. The library has no
 * list. That UGX is named without decimals there and counted in hundredths was learnt by charges a hundred times too low:
 * WordPress/wordcamp.org#1320, odoo/odoo#227688, Shopify/money#258; of ISK by a price too high: stripe/stripe-ios#3986.
 */
const withoutDecimals = ["BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF"];
const withThreeDecimals = ["BHD JOD KWD OMR TND"];
/** "Special cases": without decimals, but an amount in the API has two, 00 for ISK and UGX. HUF and TWD have none in payouts. */
const specialCases = ["ISK UGX HUF TWD"];
const withTwoDecimals = [
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY COP CRC CVE CZK",
  "DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG IDR ILS INR JMD KES KGS KHR KYD KZT LAK LBP LKR LRD",
  "LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR",
  "SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TOP TRY TTD TZS UAH USD UYU UZS WST XCD XCG YER ZAR ZMW",
];

const each = (lists: string[]) => lists.flatMap((list) => list.split(" "));

/** The number in words such as `HUF 9,990`. */
const numberIn = (words: string) => Number(/\d[\d,.]*/.exec(words)?.[0].replaceAll(",", ""));

it.each([
  [4900, "eur", "49.00"],
  [5, "eur", "0.05"],
  [-5, "EUR", "-0.05"],
  [0, "eur", "0.00"],
  [7, "bhd", "0.007"],
  [7, "jpy", "7"],
])("%i at Stripe in %s is %s for a spreadsheet", (amount, currency, decimal) => {
  expect(moneyAsDecimal(amount, currency)).toBe(decimal);
});

describe("an amount of Stripe's in words", () => {
  it.each([
    { decimals: 0, currencies: each(withoutDecimals) },
    { decimals: 2, currencies: [...each(withTwoDecimals), ...each(specialCases)] },
    { decimals: 3, currencies: each(withThreeDecimals) },
  ])("has the $decimals decimals that Stripe's documents give each currency", ({ decimals, currencies }) => {
    const units = 10 ** decimals;
    for (const currency of currencies)
      for (const spelt of [currency, currency.toLowerCase()]) {
        expect([currency, numberIn(moneyInWords(9990 * units, spelt))]).toEqual([currency, 9990]);
        expect([currency, numberIn(moneyInWords(0, spelt))]).toEqual([currency, 0]);
      }
  });

  it.each([
    [999_000, "huf", "HUF 9,990"],
    [999_050, "huf", "HUF 9,990.50"],
    [14_900_000, "idr", "IDR 149,000"],
    [4_990_000, "cop", "COP 49,900"],
    [490_000, "isk", "ISK 4,900"],
    [500, "ugx", "UGX 5"],
    [4900, "jpy", "¥4,900"],
    [5120, "kwd", "KWD 5.120"],
    [5000, "kwd", "KWD 5.000"],
    [4900, "eur", "€49.00"],
    [-4150, "usd", "-$41.50"],
    [29_900, "twd", "NT$299.00"],
  ])("writes %i of %s as %s", (amount, currency, words) => {
    expect(moneyInWords(amount, currency).replaceAll("\u00a0", " ")).toBe(words);
  });

  it.each([
    [4900, "eur", "€49"],
    [4950, "eur", "€49.50"],
    [4900, "jpy", "¥4,900"],
    [5000, "kwd", "KWD 5"],
  ])("writes a price of %i of %s as %s", (amount, currency, words) => {
    expect(priceInWords(amount, currency).replaceAll("\u00a0", " ")).toBe(words);
  });
});
