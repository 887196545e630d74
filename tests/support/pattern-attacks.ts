/*
 * Texts that are dear to a pattern if any are: what takes a backtracking engine more than linear time is a run of
 * something that the pattern repeats, with an end that it does not want. Both are made of the pattern's own characters.
 */

const maxCharacters = 12;
const shortLength = 400;
const maxSuspects = 4;
const unwanted = "\0";

/**
 * The most that a pattern takes for a text of this length, in milliseconds: the best of several runs, so that only its
 * own time counts. Short texts say which long ones are worth a try.
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

/** How long this takes where nothing else is at work, in milliseconds. */
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

/** What a class or an escape stands for. */
const examples: Record<string, string> = {
  ...{ w: "a", W: "-", d: "0", D: "a", s: " ", S: "a", b: "", B: "" },
  ...{ n: "\n", r: "\r", t: "\t", v: "\v", f: "\f", p: "\u0007", P: "a" },
};

const part =
  /\\x(?<hex>[\da-f]{2})|\\u\{?(?<unicode>[\da-f]{4,6})\}?|\\[pP]\{[^}]*\}|\\(?<escaped>.)|\(\?<?[=!:]?(?:\w+>)?|\{[\d,]+\}|(?<operator>[[\]()*+?|^$])|(?<any>\.)|(?<literal>.)/gisu;

/** The characters that a pattern speaks of, and the words in it. */
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
  return { characters: jitter([...characters, "a"]), words: [...words] };
}

/** As many as can be paired with each other: signs before letters, and of these some of each. */
function jitter(characters: string[]): string[] {
  const signs = characters.filter((character) => !/[\p{L}\d]/u.test(character));
  const letters = characters.filter((character) => /[\p{L}\d]/u.test(character));
  return [...new Set([...signs.slice(0, maxCharacters - 4), ...letters])].slice(0, maxCharacters);
}
