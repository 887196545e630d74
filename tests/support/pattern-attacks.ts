/*
 * Texts that make a vulnerable pattern slow (ReDoS): a backtracking engine needs more than linear time for a run of
 * something that the pattern repeats, with an end that does not match. Both are made of the pattern's own characters.
 */

const maxCharacters = 12;
const shortLength = 400;
const maxSuspects = 4;
const unwanted = "\0";

/**
 * The longest time of a pattern for any text of this length, in milliseconds: the best of several runs per text, so
 * that only its own time counts. Short texts select the long ones to try.
 */
export function slowestMs(pattern: RegExp, length: number): number {
  const suspects = [...attacksOn(pattern)]
    .map((attack) => ({ attack, ms: fastestMs(pattern, attack(Math.min(length, shortLength)), 1) }))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, maxSuspects);
  return Math.max(...suspects.map(({ attack }) => fastestMs(pattern, attack(length), 3)));
}

function fastestMs(pattern: RegExp, text: string, runs: number): number {
  return bestOf(runs, () => {
    pattern.lastIndex = 0;
    if (pattern.global) text.replace(pattern, "");
    else pattern.exec(text);
  });
}

/** The shortest of several runs, in milliseconds, which excludes other work of the machine. */
export function bestOf(runs: number, work: () => void): number {
  const times = Array.from({ length: runs }, () => {
    const startedAtMs = performance.now();
    work();
    return performance.now() - startedAtMs;
  });
  return Math.min(...times);
}

type Attack = (length: number) => string;

function* attacksOn(pattern: RegExp): Iterable<Attack> {
  const { characters, words } = partsOf(pattern.source);
  const pairs = characters.flatMap((one) => characters.map((other) => one + other));
  const units = new Set([...characters, ...pairs, ...words]);
  const openings = new Set(["", ...words.slice(0, 2), ...characters.slice(0, 2)]);
  for (const unit of units) {
    for (const opening of openings) {
      yield (length) => `${opening}${unit.repeat(length / unit.length)}`.slice(0, length) + unwanted;
    }
  }
}

/** Characters that a class or an escape matches. */
const examples: Record<string, string> = {
  w: "a",
  W: "-",
  d: "0",
  D: "a",
  s: " ",
  S: "a",
  b: "",
  B: "",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  f: "\f",
  p: "\u0007",
  P: "a",
};

const part =
  /\\x(?<hex>[\da-f]{2})|\\u\{?(?<unicode>[\da-f]{4,6})\}?|\\[pP]\{[^}]*\}|\\(?<escaped>.)|\(\?<?[=!:]?(?:\w+>)?|\{[\d,]+\}|(?<operator>[[\]()*+?|^$])|(?<any>\.)|(?<literal>.)/gisu;

/** The characters that a pattern matches, and its literal words. */
function partsOf(source: string): { characters: string[]; words: string[] } {
  const characters = new Set<string>();
  const words = new Set<string>();
  let word = "";
  for (const { groups = {} } of source.matchAll(part)) {
    const { hex, unicode, escaped, any, literal } = groups;
    const code = hex ?? unicode;
    const isWritten = literal ?? (escaped && !(escaped in examples) ? escaped : undefined);
    const character =
      isWritten ??
      (code ? String.fromCodePoint(Number.parseInt(code, 16)) : any ? "a" : (examples[escaped ?? ""] ?? ""));
    if (character) characters.add(character);
    if (isWritten) word += isWritten;
    else {
      if (word.length > 1) words.add(word);
      word = "";
    }
  }
  if (word.length > 1) words.add(word);
  return { characters: sampleOf([...characters, "a"]), words: [...words] };
}

/** A sample small enough to pair with each other: symbols first, then some of each kind of letter. */
function sampleOf(characters: string[]): string[] {
  const signs = characters.filter((character) => !/[\p{L}\d]/u.test(character));
  const letters = characters.filter((character) => /[\p{L}\d]/u.test(character));
  return [...new Set([...signs.slice(0, maxCharacters - 4), ...letters])].slice(0, maxCharacters);
}
