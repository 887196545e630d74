const longEnough = 6; // of a shorter name, too many others differ by one character

/**
 * Names that are a setting's but for one character: one too many, missing, another, two exchanged, or the case. A setting
 * that is given under its own name as well is not meant.
 *
 * @returns a line for each, without its value
 */
export function findMisspelt(given: readonly string[], known: readonly string[]): string[] {
  const missing = known.filter((name) => name.length >= longEnough && !given.includes(name));
  return given.flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = missing.find((other) => differByOne(name.toUpperCase(), other));
    return meant ? [`${name} is not a setting: ${meant} is, and is not set`] : [];
  });
}

function differByOne(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [left = "", right = ""] = [one, other].map((name) => name.slice(start, name.length - end));
  const areExchanged = left.length === 2 && left === [...right].reverse().join("");
  return areExchanged || (left.length <= 1 && right.length <= 1);
}
