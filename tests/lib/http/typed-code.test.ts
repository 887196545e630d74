import { describe, expect, it } from "vitest";
import { findDeviceCode, findSixDigits, readTypedCode } from "@/lib/http/typed-code";

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

describe("the six digits of a text", () => {
  it.each([
    ["Your code is 123456", "123456"],
    ["Your code is 123 456.", "123456"],
    ["123-456 is your sign-in code", "123456"],
    ["Code：１２３４５６。", "123456"],
    ["Enter this code where you requested it:\n\n123456\n\nIt expires in 10 minutes.", "123456"],
    ["Enter this code where you requested it:123456It works once, for 10 minutes.", "123456"],
    ["123456 10 minutes left", "123456"],
    ["123456, again: 123 456\n@office.example.com #123456", "123456"],
    ["1 2 3 4 5 6", "123456"],
  ])("are found in %j", (text, code) => {
    expect(findSixDigits(text)).toBe(code);
  });

  it.each([
    ["Your code is 123456, the one before was 654321", "two different ones"],
    ["Your code is 12345"],
    ["Your code is 1234567"],
    ["Call +44 123 456 789"],
    ["At 12:34:56 on 2026-11-28"],
    ["Your code is on its way"],
    [""],
  ])("are not in %j", (text: string, _?: string) => {
    expect(findSixDigits(text)).toBeUndefined();
  });
});

describe("the code of a device in a text", () => {
  it.each([
    ["BCDF-GHJK"],
    ["bcdfghjk"],
    ["b c d f g h j k"],
    ["ＢＣＤＦ－ＧＨＪＫ"],
    ["To sign in, enter the code BCDF-GHJK."],
    ["First copy your one-time code: BCDF–GHJK\nThen open https://office.example.com/connect"],
    ["https://office.example.com/connect?user_code=BCDF-GHJK"],
    ["BCDF-GHJK, again: bcdf ghjk"],
  ])("is found in %j", (text) => {
    expect(findDeviceCode(text)).toBe("BCDFGHJK");
  });

  it.each([
    ["BCDF-GHJK or LMNP-QRST", "two different ones"],
    ["BCDF-GHJKL", "a letter too many"],
    ["BCDF, then GHJK", "two halves"],
    ["ABCD-EFGH", "vowels"],
    ["Enter the code in your browser", "no code"],
    ["", "nothing"],
  ])("is not found in %j: %s", (text) => {
    expect(findDeviceCode(text)).toBeUndefined();
  });
});
