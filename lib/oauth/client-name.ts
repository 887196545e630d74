/**
 * A client's name as people are shown it, without what makes it look like another's: control, format, unassigned and
 * bidirectional characters, letters and selectors that show nothing, line breaks, and more marks on a letter than any
 * script puts there. `undefined` when nothing that shows is left.
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

/** The property has the Hangul fillers and variation selectors; the blank Braille pattern and the null note are besides. */
const showsNothing = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]/gu;

/** Thai and pointed Hebrew put two marks on a letter; whatever is over is drawn across the lines around it. */
const floodOfMarks = /(\p{M}{2})\p{M}+/gu;
