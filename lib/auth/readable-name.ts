/**
 * A name that an app or a person chose, for display. Removes everything that can make it look like another name: control,
 * format, unassigned and bidirectional characters, invisible letters and selectors, line breaks, and more combining marks
 * on a letter than any script uses. Letters in other shapes (NFKC) and words of look-alikes of Latin letters are written
 * in Latin letters, so that two names that look the same are the same. `undefined` if nothing visible is left.
 */
export function readableName(name: string): string | undefined {
  const readable = name
    .normalize("NFKC")
    .replace(/[\s\p{Z}]+/gu, " ")
    .replace(showsNothing, "")
    .replace(floodOfMarks, "$1")
    .replace(/ +/g, " ")
    .trim()
    .replace(/^\p{M}+/u, "")
    .replace(/\p{L}+/gu, inLatinLetters);
  return readable === "" ? undefined : readable;
}

/** The property covers the Hangul fillers and variation selectors, but not the blank Braille pattern and the null note. */
const showsNothing = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]/gu;

/** Thai and pointed Hebrew use two marks per letter. More of them are drawn across the neighbouring lines. */
const floodOfMarks = /(\p{M}{2})\p{M}+/gu;

/** In each word, letters that look like its first one: Cyrillic, Greek, Armenian and others (Unicode TR39, confusables). */
const confusables =
  "AАΑᎪ BВΒᏴ CСϹᏟ DᎠ EЕΕᎬ FϜ GԌᏀ HНΗᎻ IІΙӀ JЈᎫͿ KКΚᏦ LᏞ MМΜᎷ NΝ OОΟՕ PРΡᏢ QԚ RᎡ SЅՏᏚ TТΤᎢ " +
  "UՍ VѴᏙ WԜᎳ XХΧ YҮΥ ZΖᏃ aаαɑ cсϲ dԁ eеҽ gɡց hһհ iіιı jјϳ kκ lӏ nո oоοօ pрρ qԛզ sѕ uυս vνѵ " +
  "wԝ xхχ yуүγ";

const lookAlikes = new Map(
  confusables.split(" ").flatMap(([latin = "", ...others]) => others.map((other) => [other, latin] as const)),
);

function inLatinLetters(word: string): string {
  const letters = [...word].map((letter) => lookAlikes.get(letter) ?? letter);
  return letters.every((letter) => /\p{Script=Latin}/u.test(letter)) ? letters.join("") : word;
}
