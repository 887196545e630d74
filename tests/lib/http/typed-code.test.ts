import { describe, expect, it } from "vitest";
import { readTypedCode } from "@/lib/http/typed-code";

describe("a typed code", () => {
  it.each([
    ["123 456"],
    [" 1-2-3-4-5-6 "],
    ["123–456", "an en dash"],
    ["123\u2011456", "a hyphen that does not break"],
    ["123−456", "a minus"],
    ["123.456"],
    ["１２３　４５６", "full-width, with a space as wide"],
    ["١٢٣٤٥٦", "Arabic-Indic"],
    ["۱۲۳۴۵۶", "Persian"],
    ["१२३४५६", "Devanagari"],
    ["၁၂၃၄၅၆", "Burmese"],
    ["𝟏𝟐𝟑𝟒𝟓𝟔", "bold"],
    ["①②③④⑤⑥", "in circles"],
    ["\u200e123\u00a0456\u200f", "with marks of direction and a space that does not break"],
  ])("of six digits can be %j", (typed: string, _?: string) => {
    expect(readTypedCode(typed)).toBe("123456");
  });

  it("has the same digits in every script", () => {
    for (const system of Intl.supportedValuesOf("numberingSystem")) {
      const format = new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false });
      const written = format.format(9_876_543_210);
      if (!/^\p{Nd}{10}$/u.test(written)) continue; // words, not digits
      expect(readTypedCode(written), system).toBe("9876543210");
    }
  });

  it.each([
    ["abcd-efgh", "ABCDEFGH"],
    ["ＡＢＣＤ－２３４５", "ABCD2345"],
    ["abcd — 2345 · efgh", "ABCD2345EFGH"],
    ["一二三", "一二三"],
    ["", ""],
  ])("keeps the letters of %j", (typed, read) => {
    expect(readTypedCode(typed)).toBe(read);
  });
});
