import { transformSync } from "esbuild";
import { expect, it } from "vitest";
import { makeMistake, switchMistakes } from "@/tests/mutants/mechanical/sites";

const source = `
type Query = { where: (...words: unknown[]) => Query; words: string };
const query = (words: string): Query => ({ words, where: (...more) => query(words + " " + more.join(" ")) });
const sql = (texts: TemplateStringsArray) => texts.join("");
export const isBoth = (left: boolean, right: boolean) => left && right;
export const isEither = (left: boolean, right: boolean) => left || right;
export const isNot = (value: boolean) => !value;
export const isLess = (left: number, right: number) => left < right;
export const rows = query("from a").where("b", "<=", 1).where("c is null").words;
export const text = sql\`a and b\`;
const later = Promise.resolve().then(() => {}).then(() => {});
export async function write(done: string[]) {
  await later.then(() => done.push("written"));
  done.push("returned");
}
`;
const { sites, text } = switchMistakes("source.ts", source, 10);
const switched = text.replace(/^import \* as \$m from .*?;/, "");

type Compare = (one: number, two: number) => boolean;

/** What a source exports with one of its switches on, or with none. */
function load(made: number, written: string) {
  const { code } = transformSync(written, { loader: "ts", format: "cjs" });
  const $m = {
    isMade: (id: number) => id === made,
    on: (id: number) => id === made,
    turned: (_id: number, _becomes: boolean, value: unknown) => value,
    changed: (_id: number, _becomes: boolean, value: unknown) => value,
    compared: (id: number, other: Compare, right: Compare, one: number, two: number) =>
      (id === made ? other : right)(one, two),
    without: (id: number, target: unknown, method: string) =>
      id === made ? { [method]: () => target } : target,
    awaited: (id: number, begun: unknown) => (id === made ? undefined : begun),
  };
  const module = { exports: {} as Record<string, never> };
  new Function("module", "exports", "$m", code)(module, module.exports, $m);
  return module.exports as unknown as {
    isBoth: (left: boolean, right: boolean) => boolean;
    isEither: (left: boolean, right: boolean) => boolean;
    isNot: (value: boolean) => boolean;
    isLess: (left: number, right: number) => boolean;
    rows: string;
    text: string;
    write: (done: string[]) => Promise<void>;
  };
}

const both = [true, false];

async function outcome(made: number, written = switched) {
  const { isBoth, isEither, isNot, isLess, rows, text, write } = load(made, written);
  const done: string[] = [];
  await write(done);
  await new Promise(setImmediate);
  return {
    isBoth: both.flatMap((left) => both.map((right) => isBoth(left, right))),
    isEither: both.flatMap((left) => both.map((right) => isEither(left, right))),
    isNot: both.map(isNot),
    isLess: [isLess(1, 2), isLess(2, 2), isLess(3, 2)],
    rows,
    text,
    done,
  };
}

it("finds a mistake for each operand, call, boundary, word of SQL and awaited write, on its line", () => {
  expect(sites.map(({ line, change }) => `${line} ${change}`).sort()).toEqual([
    "10 SQL a and b → or",
    '13 not awaited: later.then(() => done.push("written"))',
    "5 && without left",
    "5 && without right",
    "6 || without left",
    "6 || without right",
    "7 not: !value",
    "8 left < right → <=",
    '9 "b" <= 1 → <',
    '9 without .where("b", "<=", 1)',
    '9 without .where("c is null")',
  ]);
  expect(text.split("\n")).toHaveLength(source.split("\n").length);
});

it("changes nothing while no switch is on, and one thing by each switch", async () => {
  const right = await outcome(-1);
  expect(right).toEqual({
    isBoth: [true, false, false, false],
    isEither: [true, true, true, false],
    isNot: [false, true],
    isLess: [true, false, false],
    rows: "from a b <= 1 c is null",
    text: "a and b",
    done: ["written", "returned"],
  });
  const changed = async (change: string) => {
    const made = await outcome(10 + sites.findIndex((site) => site.change === change));
    return Object.fromEntries(
      Object.entries(made).filter(([name, value]) => `${value}` !== `${right[name as keyof typeof right]}`),
    );
  };
  expect(await changed("&& without left")).toEqual({ isBoth: [true, false, true, false] });
  expect(await changed("&& without right")).toEqual({ isBoth: [true, true, false, false] });
  expect(await changed("|| without left")).toEqual({ isEither: [true, false, true, false] });
  expect(await changed("|| without right")).toEqual({ isEither: [true, true, false, false] });
  expect(await changed("not: !value")).toEqual({ isNot: [true, false] });
  expect(await changed("left < right → <=")).toEqual({ isLess: [true, true, false] });
  expect(await changed('"b" <= 1 → <')).toEqual({ rows: "from a b < 1 c is null" });
  expect(await changed('without .where("b", "<=", 1)')).toEqual({ rows: "from a c is null" });
  expect(await changed('without .where("c is null")')).toEqual({ rows: "from a b <= 1" });
  expect(await changed("SQL a and b → or")).toEqual({ text: "a or b" });
  expect(await changed('not awaited: later.then(() => done.push("written"))')).toEqual({
    done: ["returned", "written"],
  });
});

it.each(sites.map((site, at) => ({ site, at })))(
  "makes one mistake by a switch and by hand: $site.change",
  async ({ site, at }) => {
    expect(await outcome(-1, makeMistake(source, site))).toEqual(await outcome(10 + at));
  },
);
