import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toCredits } from "@/lib/accounts/credits/ledger";
import { keepAmounts, parseAmount } from "@/lib/backend/amount";

/** Parses what the field `credits` of a JSON text says. */
const parse = (json: string) => parseAmount(JSON.parse(`{"credits":${json}}`, keepAmounts).credits);

describe("an amount of credits", () => {
  it.each([
    ["0.125", 125],
    ['"0.125"', 125],
    ["0", 0],
    ["-0", undefined],
    ["1", 1000],
    ['"007"', 7000],
    ["1e-3", 1],
    ["1.2345678E7", 12_345_678_000],
    ["12.500", 12_500],
    ['"12.5000"', 12_500],
    ['"1E+3"', 1_000_000],
    ['"1e-3"', 1],
    ["1000000000000", 1_000_000_000_000_000],
    ["999999999999.999", 999_999_999_999_999],
    [`"${"0".repeat(39)}1"`, 1000],
  ])("%s is exact", (json, thousandths) => {
    expect(parse(json)).toBe(thousandths);
  });

  it.each([
    String(0.1 + 0.2),
    "0.12500000000000000001",
    "999999999999.99905",
    "1000000000000.001",
    "0.0005",
    '"0.0005"',
    "1e-4",
    "1e21",
    "1e99",
    '"1e-4"',
    '"1e999"',
    '"e3"',
    '"1,5"',
    `"${"0".repeat(40)}1"`,
    '"٣"',
    '"１"',
    '" 1"',
    '"1 "',
    '"+1"',
    '"-1"',
    "-1",
    '"0x10"',
    '"1_000"',
    '"Infinity"',
    '"NaN"',
    '"."',
    '"1."',
    '".5"',
    '""',
    "null",
    "true",
    "[1]",
    "{}",
    `"${"9".repeat(1000)}"`,
  ])("%s is none", (json) => {
    expect(parse(json)).toBeUndefined();
  });

  it("is read back as it is written, as a text and as a number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 }), (thousandths) => {
        const written = JSON.stringify(toCredits(thousandths));
        expect(parse(written)).toBe(thousandths);
        expect(parse(`"${written}"`)).toBe(thousandths);
        expect(parse(toCredits(thousandths).toExponential())).toBe(thousandths);
      }),
    );
  });

  it("is exact or none, whatever is sent", () => {
    fc.assert(
      fc.property(fc.nat(999), fc.nat(10 ** 6 - 1), fc.nat(10), (whole, decimals, zeros) => {
        const text = `${whole}.${String(decimals).padStart(6, "0")}${"0".repeat(zeros)}`;
        const exact = decimals % 1000 === 0 ? whole * 1000 + decimals / 1000 : undefined;
        expect(parse(text)).toBe(exact);
        expect(parse(`"${text}"`)).toBe(exact);
      }),
    );
  });

  it("takes any text or value without throwing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.anything()), (value) => {
        const thousandths = parseAmount(value);
        expect(thousandths === undefined || Number.isSafeInteger(thousandths)).toBe(true);
      }),
    );
  });
});
