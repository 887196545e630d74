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

/** Cyrillic, Greek, Armenian and other letters that look like Latin ones, after those (Unicode TR39, confusables). */
const lookAlikes = new Map(
  Object.entries({
    A: "АΑᎪ",
    B: "ВΒᏴ",
    C: "СϹᏟ",
    D: "Ꭰ",
    E: "ЕΕᎬ",
    F: "Ϝ",
    G: "ԌᏀ",
    H: "НΗᎻ",
    I: "ІΙӀ",
    J: "ЈᎫͿ",
    K: "КΚᏦ",
    L: "Ꮮ",
    M: "МΜᎷ",
    N: "Ν",
    O: "ОΟՕ",
    P: "РΡᏢ",
    Q: "Ԛ",
    R: "Ꭱ",
    S: "ЅՏᏚ",
    T: "ТΤᎢ",
    U: "Ս",
    V: "ѴᏙ",
    W: "ԜᎳ",
    X: "ХΧ",
    Y: "ҮΥ",
    Z: "ΖᏃ",
    a: "аαɑ",
    c: "сϲ",
    d: "ԁ",
    e: "еҽ",
    g: "ɡց",
    h: "һհ",
    i: "іιı",
    j: "јϳ",
    k: "κ",
    l: "ӏ",
    n: "ո",
    o: "оοօ",
    p: "рρ",
    q: "ԛզ",
    s: "ѕ",
    u: "υս",
    v: "νѵ",
    w: "ԝ",
    x: "хχ",
    y: "уүγ",
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);

function inLatinLetters(word: string): string {
  const letters = [...word].map((letter) => lookAlikes.get(letter) ?? letter);
  return letters.every((letter) => /\p{Script=Latin}/u.test(letter)) ? letters.join("") : word;
}
