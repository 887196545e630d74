import type { Token } from "marked";
import MiniSearch, { type Query, type SearchOptions } from "minisearch";
import type { DocumentPage } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { plain } from "@/lib/docs/markdown";
import { phrases, sectionWords, synonyms } from "@/lib/docs/search-words";
import { sectionsOf, titleOf } from "@/lib/docs/sections";
import { errorCatalogue } from "@/lib/http/errors";
import { documentPages } from "@/lib/http/register/pages";
import { perProcess } from "@/lib/per-process";

export type SearchHit = {
  /** A document's path, with the anchor of the section. */
  path: string;
  /** The titles of the document and the section. */
  title: string;
  /** At most 200 characters of plain text around the first match. */
  snippet: string;
  /** The words of the documents that matched, as {@link markFound} takes them. */
  found: string[];
};

/**
 * The sections that match a word of the query, best first, at most `limit`. Rare words and words in headings score higher;
 * prefixes, typing errors and synonyms match too. Words that no section has are ignored. The order is deterministic.
 */
export function searchDocuments(query: string, limit: number): SearchHit[] {
  const terms = termsOf(query);
  const { index, sections } = documentIndex();
  const own = terms.map(stemOf);
  const meant = terms.flatMap((word) => variantsOf(word).slice(1)).filter((word) => !own.includes(word));
  const hits = index.search({ combineWith: "OR", queries: terms.map(toQuery) }, searchOptions);
  return hits
    .map(({ id, score, queryTerms, terms: words }) => {
      // What was typed is marked, and another word for it only where that is missing.
      const typed = words.filter((word) => !meant.includes(word));
      const found = typed.length > 0 ? typed : words;
      const section = sections.get(id) as Section;
      const matched = terms.filter((term) => variantsOf(term).some((one) => queryTerms.includes(one)));
      // A section with all words beats one with some.
      const share = (matched.length / terms.length) ** 1.5;
      const isNamed = section.name === terms.join(" ");
      return { section, found, score: score * share * (isNamed ? 2 : section.weight) };
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ section: { path, title, prose }, found }) => ({
      path,
      title,
      snippet: snippetOf(prose, found),
      found,
    }));
}

/** A text in pieces, with those that a search found marked. Each has its place in the text. */
export function markFound(text: string, found: readonly string[]) {
  let end = 0;
  return text
    .split(/((?:log|sign)[a-z]*[ -](?:in|out)\b|[\p{L}\p{N}_]+)/iu)
    .filter((piece) => piece !== "")
    .map((piece) => {
      const at = end;
      end += piece.length;
      return { at, text: piece, isFound: wordsOf(piece).some((word) => found.includes(stemOf(word))) };
    });
}

/** The words of a query that are searched: what a query costs is bounded by their number. */
function termsOf(query: string): string[] {
  const meant = phrases.reduce((text, [typed, meant]) => text.replace(typed, meant), query.toLowerCase());
  return [...new Set(withoutFillers(meant))].slice(0, maxTerms);
}

const withoutFillers = (text: string) => wordsOf(text).filter((word) => !fillers.has(word));

const maxTerms = 12;
const maxSnippetCharacters = 200;
const fillers = new Set(
  "a about after am an and any are as at be been but by can could did do does for from get give had has have how i if in into is it its look looks me mean means mine much must my need now of on or our out put shall should so some someone tell than that the their them then there these they this those to us use using want was we were what when where which who why will with work works would you your".split(
    " ",
  ),
);

type Section = {
  path: string;
  title: string;
  /** The words of its heading that are searched, joined. */
  name: string;
  /** Words that people use for it. */
  words: string;
  text: string;
  /** The text without code and tables, for the snippet; the document's summary if there is none. */
  prose: string;
  /** A factor of its score, unless its name is what was typed. */
  weight: number;
};

/** A page is about a thing that its sections and the error codes mention. */
const weights = { page: 1.3, section: 1, code: 0.2 };

const documentIndex = perProcess("search of the documents", () => {
  const sections = new Map(documents.flatMap(describeSections).map((section) => [section.path, section]));
  const fields: (keyof Section)[] = ["name", "title", "words", "text"];
  const index = new MiniSearch<Section>({ idField: "path", fields, tokenize: wordsOf, processTerm: stemOf });
  index.addAll([...sections.values()]);
  return { index, sections };
});

function describeSections(document: DocumentPage): Section[] {
  return sectionsOf(document).map(({ heading, anchor, tokens }) => {
    const path = anchor ? `${document.path}#${anchor}` : document.path;
    const body = tokens.filter(({ type }) => type !== "heading" && type !== "code");
    const prose = plainText(body.filter(({ type }) => type !== "table"));
    return {
      path,
      title: titleOf(document, anchor && heading),
      name: withoutFillers(heading).join(" "),
      words: sectionWords[path] ?? "",
      text: plainText(body),
      prose: prose || document.summary,
      weight: weightOf(document, anchor),
    };
  });
}

function weightOf({ path }: DocumentPage, anchor: string | undefined): number {
  if (!anchor) return weights.page;
  if (path !== documentPages.errors.path || !(anchor in errorCatalogue)) return weights.section;
  return weights.code;
}

const searchOptions: SearchOptions = {
  boost: { name: 5, words: 3, title: 1.5 },
  // The words are split already. Split again, one of 200 characters became a hundred.
  tokenize: (word) => [word],
  maxFuzzy: 2,
};

function toQuery(word: string): Query {
  const { length } = stemOf(word);
  const isGuessed = length > 4 && length <= maxGuessedCharacters;
  return {
    combineWith: "OR",
    queries: [
      { queries: [word], prefix: word.length > 1, fuzzy: isGuessed ? 0.2 : false },
      { queries: variantsOf(word).slice(1), boostTerm: () => 0.5 },
    ],
  };
}

const maxGuessedCharacters = 20;

const groups = synonyms.map((words) => words.map(stemOf));

function variantsOf(word: string): string[] {
  const stem = stemOf(word);
  const group = groups.find((stems) => stems.includes(stem)) ?? [];
  return [stem, ...group.filter((other) => other !== stem)];
}

/** "signs in", "logging in" and their like, which are one word here. */
const signing = /\b(?:log|sign)(?:s|ed|ged|ing|ging)?[ -]?(in|out)\b/g;

/** The words in lower case without accents. `trial_ended` yields `trial_ended`, `trial` and `ended`. */
function wordsOf(text: string): string[] {
  const bare = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(signing, "sign$1");
  const words = bare.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.flatMap((word) =>
    word.includes("_") ? [word, ...wordsOf(word.replaceAll("_", " "))] : [word],
  );
}

/** A word without its ending, so that plurals match singulars. */
function stemOf(word: string): string {
  return word.includes("_") ? word : word.replace(/(?<=...)(?:ments?|ing|ed|es|e|s)$/, "");
}

const plainText = (tokens: Token[]) => plain(tokens.map(({ raw }) => raw).join("\n"));

function snippetOf(text: string, found: string[]): string {
  if (text.length <= maxSnippetCharacters) return text;
  const lower = text.toLowerCase();
  const first = Math.max(0, lower.search(new RegExp(`\\b(?:${found.join("|")})`)));
  const start = first < 60 ? 0 : text.lastIndexOf(" ", first - 40) + 1;
  const cut = text.slice(start, start + maxSnippetCharacters - 2);
  const end = start + cut.length < text.length ? cut.slice(0, cut.lastIndexOf(" ")) : cut;
  return `${start > 0 ? "…" : ""}${end}${start + end.length < text.length ? "…" : ""}`;
}
