import { expect, it } from "vitest";
import { csvOf } from "@/lib/runtime/csv";

async function* pagesOf<Item>(...pages: Item[][]) {
  yield* pages;
}

const write = async (...pages: unknown[][]) =>
  (await Array.fromAsync(csvOf(pagesOf(...pages), (value) => [{ value }]))).join("");

it("names the columns once, before the first row, and not where there is none", async () => {
  expect(await write([], [1, 2], [3])).toBe('"value"\r\n"1"\r\n"2"\r\n"3"\r\n');
  expect(await write([])).toBe("");
});

it.each([
  [-5, '"-5"'],
  ["-1.25", '"-1.25"'],
  ["-1+1", `"'-1+1"`],
  ["=A0", `"'=A0"`],
  ["+49", `"'+49"`],
  ["@SUM", `"'@SUM"`],
  ['say "no"', '"say ""no"""'],
  [null, '""'],
])("writes %j as %s, which no spreadsheet computes", async (value, cell) => {
  expect(await write([value])).toBe(`"value"\r\n${cell}\r\n`);
});
