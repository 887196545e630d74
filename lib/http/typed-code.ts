/**
 * A code as it was meant: letters in upper case and digits from 0 to 9, however an input method writes them (full-width, in
 * another script), without the blanks, dashes and other signs between them.
 */
export function readTypedCode(typed: string): string {
  return inAsciiDigits(typed)
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toUpperCase();
}

/**
 * The code of six digits in a text, alone or in a sentence as a clipboard brings it: "Your code is 123 456". If two
 * different ones are there, it has none.
 */
export function findSixDigits(text: string): string | undefined {
  const alone = readTypedCode(text);
  if (/^\d{6}$/.test(alone)) return alone;
  const figures = inAsciiDigits(text).match(/\d+(?:[^\p{L}\p{N}]\d+)*/gu) ?? [];
  const [code, another] = new Set(
    figures.flatMap((figure) => {
      const parts = figure.split(/\D+/);
      const isInThrees = parts.length === 2 && parts.every((part) => part.length === 3);
      return isInThrees ? parts.join("") : parts.filter((part) => part.length === 6);
    }),
  );
  return another === undefined ? code : undefined;
}

/**
 * The code of a device in a text, alone or in a sentence or an address: eight of the letters that it is made of, of which no
 * word consists. If two different ones are there, it has none.
 */
export function findDeviceCode(text: string): string | undefined {
  const alone = readTypedCode(text);
  if (/^[B-DF-HJ-NP-TV-XZ]{8}$/.test(alone)) return alone;
  const [code, another] = new Set(text.normalize("NFKC").match(inFours)?.map(readTypedCode));
  return another === undefined ? code : undefined;
}

/** As devices show it, or with none or another sign in its middle. */
const inFours =
  /(?<![\p{L}\p{N}])[B-DF-HJ-NP-TV-XZ]{4}[^\p{L}\p{N}]{0,3}[B-DF-HJ-NP-TV-XZ]{4}(?![\p{L}\p{N}])/giu;

const inAsciiDigits = (text: string) => text.normalize("NFKC").replace(/\p{Nd}/gu, toAsciiDigit);

/** In each script ten characters in a row are the digits, so those in front of one count to its value (Unicode §4.6). */
function toAsciiDigit(digit: string): string {
  const at = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(at - value - 1))) value++;
  return String(value % 10);
}
