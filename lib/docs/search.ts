import { marked, type Token } from "marked";
import { documents } from "@/lib/docs/documents";
import { anchorOf } from "@/lib/docs/markdown";
import { oncePerProcess } from "@/lib/process/once-per-process";

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
 * The sections of the documents that speak of a query, best first, `most` of them at most.
 *
 * A word counts for more where it is rare, and in a heading; its beginning counts too, so that a search
 * can be read while it is typed. The same query finds the same hits in the same order.
 */
export function searchDocuments(query: string, most: number): SearchHit[] {
  const asked = [...new Set(wordsOf(query))].filter((word) => !fillers.has(word)).slice(0, mostWords);
  const sections = oncePerProcess("sections of the documents", () => documents.flatMap(sectionsOf));
  const weights = asked.map((word) => {
    const found = sections.filter((section) => strengthIn(section, word) > 0).length;
    return Math.log(1 + sections.length / (found + 1));
  });
  return sections
    .map((section) => ({ section, score: scoreOf(section, asked, weights) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ section, score }) => ({
      path: section.path,
      title: section.title,
      snippet: snippetOf(section.text, asked),
      score: Math.round(score * 1000) / 1000,
    }));
}

const mostWords = 12;
const mostSnippetCharacters = 200;
const fillers = new Set(
  "a an and are can do does for how i in is it my of on or that the this to what when where why with".split(
    " ",
  ),
);

type Section = {
  path: string;
  title: string;
  /** What a snippet is cut from. */
  text: string;
  /** The words of its own heading, joined. */
  name: string;
  inTitle: string[];
  inText: Map<string, number>;
};

/** A document cut at its headings. Code and tables are searched, and shown where there is nothing else. */
function sectionsOf({ path, title, markdown }: (typeof documents)[number]): Section[] {
  const parts: { heading?: string; tokens: Token[] }[] = [{ tokens: [] }];
  for (const token of marked.lexer(markdown())) {
    if (token.type !== "heading") parts.at(-1)?.tokens.push(token);
    else if (token.depth > 1) parts.push({ heading: token.text, tokens: [] });
  }
  return parts.map(({ heading, tokens }) => {
    const whole = plainText(tokens);
    const prose = plainText(tokens.filter(({ type }) => type !== "code" && type !== "table"));
    const inText = new Map<string, number>();
    for (const word of wordsOf(whole)) inText.set(word, (inText.get(word) ?? 0) + 1);
    return {
      path: heading ? `${path}#${anchorOf(heading)}` : path,
      title: heading ? `${title}: ${plain(heading)}` : title,
      text: prose || whole,
      name: wordsOf(heading ?? title).join(" "),
      inTitle: wordsOf(heading ? `${heading} ${title}` : title),
      inText,
    };
  });
}

function scoreOf(section: Section, asked: string[], weights: number[]): number {
  let score = 0;
  let found = 0;
  for (const [at, word] of asked.entries()) {
    const strength = strengthIn(section, word);
    if (strength === 0) continue;
    found++;
    score += strength * (weights[at] ?? 0);
  }
  // A section named so beats all others, and one that has all the words one that has some of them often.
  return score * (found / asked.length) ** 2 * (section.name === asked.join(" ") ? 2 : 1);
}

/** How strongly a section speaks of a word: in its title most, then by how often, with less for each time more. */
function strengthIn({ inTitle, inText }: Section, word: string): number {
  const titled = Math.max(0, ...inTitle.map((other) => likeness(word, other)));
  let times = 0;
  for (const [other, count] of inText) times += likeness(word, other) * count;
  return titled * 4 + times / (times + 1.5);
}

/** 1 for the same word, less for one that begins with it or differs by an ending, 0 for any other. */
function likeness(asked: string, other: string): number {
  if (asked === other) return 1;
  const [short, long] = asked.length < other.length ? [asked, other] : [other, asked];
  if (!long.startsWith(short) || short.length < 2) return 0;
  if (long.length - short.length <= 3 && short.length >= 4) return 0.8;
  return short === asked ? 0.4 : 0;
}

/** Lower-case words; `trial_ended` is one, and `trial` and `ended` are two more. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  return words.flatMap((word) => (word.includes("_") ? [word, ...word.split("_").filter(Boolean)] : [word]));
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
  if (text.length <= mostSnippetCharacters) return text;
  const lower = text.toLowerCase();
  const places = asked.map((word) => lower.search(new RegExp(`\\b${word}`))).filter((place) => place >= 0);
  const first = places.length > 0 ? Math.min(...places) : 0;
  const start = first < 60 ? 0 : text.lastIndexOf(" ", first - 40) + 1;
  const cut = text.slice(start, start + mostSnippetCharacters - 2);
  const end = start + cut.length < text.length ? cut.slice(0, cut.lastIndexOf(" ")) : cut;
  return `${start > 0 ? "…" : ""}${end}${start + end.length < text.length ? "…" : ""}`;
}
