import { maxThousandths } from "@/lib/accounts/credits/ledger";

/**
 * Parses an amount of credits exactly: a text such as `"0.125"`, or `"1E+3"` as decimals of Java and Python write it, or a
 * JSON number, of which the JSON source is given as a {@link JsonNumber} because a float has lost it.
 *
 * @returns the thousandths; `undefined` if it has more than three decimals, is below 0 or above the maximum balance, or is
 * no amount at all
 */
export function parseAmount(value: unknown): number | undefined {
  const text = value instanceof JsonNumber ? value.source : value;
  if (typeof text !== "string" || text.length > 40) return undefined;
  const [, whole, decimals = "", exponent = "0"] =
    /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  // The digits, of which the last three before the point are decimals once it has moved.
  const digits = whole + decimals;
  const point = whole.length + Number(exponent) + 3;
  const [kept, lost] = [digits.slice(0, Math.max(0, point)), digits.slice(Math.max(0, point))];
  if (/[1-9]/.test(lost)) return undefined;
  const thousandths = Number(kept.padEnd(point, "0"));
  return thousandths <= maxThousandths ? thousandths : undefined;
}

/** A number as a JSON text writes it. */
class JsonNumber {
  constructor(readonly source: string) {}
}

/** A reviver for `JSON.parse` that keeps the fields called `credits` as they were written. */
export function keepAmounts(key: string, value: unknown, context?: { source?: string }): unknown {
  return key === "credits" && typeof value === "number" ? new JsonNumber(context?.source ?? "") : value;
}
