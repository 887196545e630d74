import type { Token } from "marked";
import MiniSearch, { type Query } from "minisearch";
import type { DocumentPage } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { sectionsOf } from "@/lib/docs/sections";
import { processSingleton } from "@/lib/process-singleton";

export type SearchHit = {
  /** Where it is: a document's path, with the anchor of its section. */
  path: string;
  /** The document, and the section in it. */
  title: string;
  /** Plain text of at most 200 characters around the first word found. */
  snippet: string;
  /** Higher is better; comparable within one search only. */
  score: number;
};

/**
 * The sections of the documents that speak of a query, best first, `most` of them at most; none where half of its words
 * are nowhere near.
 *
 * A word counts for more where it is rare, and in a heading; its beginning counts too, so that a search can be read
 * while it is typed, and so do a slip of the keys and a word that means the same. The same query finds the same hits in
 * the same order.
 */
export function searchDocuments(query: string, most: number): SearchHit[] {
  const asked = [...new Set(wordsOf(withPhrases(query)))]
    .filter((word) => !fillers.has(word))
    .slice(0, maxWords);
  const { index, sections } = processSingleton("search of the documents", makeIndex);
  return index
    .search({ combineWith: "OR", queries: asked.map(toQuery) }, { boost: { name: 5, title: 1.5 } })
    .map(({ id, score, queryTerms }) => {
      const section = sections.get(id) as Section;
      return {
        section,
        score: score * rateFound(asked, queryTerms) * (section.name === asked.join(" ") ? 2 : 1),
      };
    })
    .filter(({ score }) => score > minScore)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ section, score }) => ({
      path: section.path,
      title: section.title,
      snippet: snippetOf(section.prose || section.text, asked),
      score: Math.round(score * 1000) / 1000,
    }));
}

const maxWords = 12;
const maxSnippetCharacters = 200;
/** What a single rare word in a text reaches. */
const minScore = 1;
const fillers = new Set(
  "a an and are can do does for how i if in is it my of on or should that the this to what when where which why will with you your".split(
    " ",
  ),
);

/** What people type, and what the documents call it. */
const phrases: [asked: RegExp, meant: string][] = [
  [/\b(?:sign|signing)[ -]?up\b|\bregist(?:er|ration)\b|\bcreate an account\b/g, "waitlist invitation"],
  [/\bwait[ -]list\b/g, "waitlist"],
  [/\bis (?:the |this )?(?:service|server|site|api|app|it) (?:down|up|running)\b/g, "health"],
  [/\bhow often\b/g, "ask again"],
  [/\blog(?:ging)?[ -]?in\b/g, "sign-in"],
  [/\blog(?:ging)?[ -]?out\b/g, "sign-out"],
];

/** Words that mean the same here. */
const synonyms = [
  "retired removed deprecated sunset",
  "key token credential password secret",
  "waitlist invitation",
  "cors origins browsers",
  "down outage health",
  "throttled quota limit rate",
  "expired renew refresh lives",
  "timeout deadline",
  "maximum size large",
  "retry backoff backing wait",
  "sdk library client",
].map((group) => group.split(" "));

type Section = {
  path: string;
  title: string;
  /** The words of its own heading, joined. */
  name: string;
  /** Whatever stands in it; code and tables are searched, and shown where there is nothing else. */
  text: string;
  prose: string;
};

function makeIndex() {
  const sections = new Map(documents.flatMap(describeSections).map((section) => [section.path, section]));
  const fields: (keyof Section)[] = ["name", "title", "text"];
  const index = new MiniSearch<Section>({ idField: "path", fields, tokenize: wordsOf, processTerm: stemOf });
  index.addAll([...sections.values()]);
  return { index, sections };
}

function describeSections(document: DocumentPage): Section[] {
  return sectionsOf(document).map(({ heading, anchor, tokens }) => {
    const own = tokens.filter(({ type }) => type !== "heading");
    return {
      path: anchor ? `${document.path}#${anchor}` : document.path,
      title: anchor ? `${document.title}: ${plain(heading)}` : document.title,
      name: wordsOf(heading).join(" "),
      text: plainText(own),
      prose: plainText(own.filter(({ type }) => type !== "code" && type !== "table")),
    };
  });
}

function toQuery(word: string): Query {
  return {
    combineWith: "OR",
    queries: [
      { queries: [word], prefix: word.length > 1, fuzzy: word.length > 4 ? 0.2 : false },
      { queries: synonymsOf(word), boostTerm: () => 0.5 },
    ],
  };
}

function synonymsOf(word: string): string[] {
  const stem = stemOf(word);
  const group = synonyms.find((words) => words.some((other) => stemOf(other) === stem)) ?? [];
  return group.filter((other) => stemOf(other) !== stem);
}

/** How much of what was asked is found: a section that has all the words beats one that has some of them often. */
function rateFound(asked: string[], found: string[]): number {
  const isFound = (word: string) =>
    [word, ...synonymsOf(word)].some((other) => found.includes(stemOf(other)));
  const share = asked.filter(isFound).length / asked.length;
  return share < 0.5 ? 0 : share ** 2;
}

function withPhrases(query: string): string {
  return phrases.reduce((text, [asked, meant]) => text.replace(asked, meant), query.toLowerCase());
}

/** Lower-case words without accents; `trial_ended` is one, and `trial` and `ended` are two more. */
function wordsOf(text: string): string[] {
  const bare = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = bare.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.flatMap((word) => (word.includes("_") ? [word, ...word.split("_").filter(Boolean)] : [word]));
}

/** A word without its ending, so that one asked in the plural is found in the singular. */
function stemOf(word: string): string {
  return word.includes("_") ? word : word.replace(/(?<=...)(?:ments?|ing|ed|es|e|s)$/, "");
}

const plainText = (tokens: Token[]) => plain(tokens.map(({ raw }) => raw).join("\n"));

/** Markdown without its marks. */
function plain(markdown: string): string {
  return markdown
    .replace(/^```.*$/gm, " ")
    .replace(/^[| :-]+$/gm, " ")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\\([|<])/g, "$1")
    .replace(/[`*]/g, "")
    .replaceAll("|", " ")
    .replace(/^ *(?:-|\d+\.) /gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

function snippetOf(text: string, asked: string[]): string {
  if (text.length <= maxSnippetCharacters) return text;
  const lower = text.toLowerCase();
  const routes = asked.map((word) => lower.search(new RegExp(`\\b${word}`))).filter((route) => route >= 0);
  const first = routes.length > 0 ? Math.min(...routes) : 0;
  const start = first < 60 ? 0 : text.lastIndexOf(" ", first - 40) + 1;
  const cut = text.slice(start, start + maxSnippetCharacters - 2);
  const end = start + cut.length < text.length ? cut.slice(0, cut.lastIndexOf(" ")) : cut;
  return `${start > 0 ? "…" : ""}${end}${start + end.length < text.length ? "…" : ""}`;
}
