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

const inAsciiDigits = (text: string) => text.normalize("NFKC").replace(/\p{Nd}/gu, toAsciiDigit);

/** In each script ten characters in a row are the digits, so those in front of one count to its value (Unicode §4.6). */
function toAsciiDigit(digit: string): string {
  const at = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(at - value - 1))) value++;
  return String(value % 10);
}
