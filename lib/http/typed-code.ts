/**
 * A code as it was meant: letters in upper case and digits from 0 to 9, however an input method writes them (full-width, in
 * another script), without the blanks, dashes and other signs between them.
 */
export function readTypedCode(typed: string): string {
  return typed
    .normalize("NFKC")
    .replace(/\p{Nd}/gu, toAsciiDigit)
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toUpperCase();
}

/** In each script ten characters in a row are the digits, so those in front of one count to its value (Unicode §4.6). */
function toAsciiDigit(digit: string): string {
  const at = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(at - value - 1))) value++;
  return String(value % 10);
}
