/**
 * A client's name for display. Removes everything that can make it look like another name: control, format, unassigned
 * and bidirectional characters, invisible letters and selectors, line breaks, and more combining marks on a letter than
 * any script uses. `undefined` if nothing visible is left.
 */
export function readableName(name: string): string | undefined {
  const readable = name
    .normalize("NFC")
    .replace(/[\s\p{Z}]+/gu, " ")
    .replace(showsNothing, "")
    .replace(floodOfMarks, "$1")
    .replace(/ +/g, " ")
    .trim()
    .replace(/^\p{M}+/u, "");
  return readable === "" ? undefined : readable;
}

/** The property covers the Hangul fillers and variation selectors, but not the blank Braille pattern and the null note. */
const showsNothing = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]/gu;

/** Thai and pointed Hebrew use two marks per letter. More of them are drawn across the neighbouring lines. */
const floodOfMarks = /(\p{M}{2})\p{M}+/gu;
