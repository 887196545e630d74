import { marked, type Token } from "marked";
import type { DocumentPage } from "@/lib/docs/document";
import { anchorOf, plain } from "@/lib/docs/markdown";

/** A heading of a document with its depth and content; the first section has the document's title. */
export type Section = { heading: string; anchor?: string; depth: number; tokens: Token[] };

/** Splits a document at its headings. */
export function sectionsOf({ title, markdown }: DocumentPage): Section[] {
  const sections: Section[] = [{ heading: title, depth: 1, tokens: [] }];
  for (const token of marked.lexer(markdown())) {
    const isHeading = token.type === "heading" && token.depth > 1;
    if (isHeading)
      sections.push({ heading: token.text, anchor: anchorOf(token.text), depth: token.depth, tokens: [] });
    sections.at(-1)?.tokens.push(token);
  }
  return sections;
}

/** The section at an anchor, with its subsections; `undefined` if there is none. */
export function sectionsAt(document: DocumentPage, anchor: string): Section[] | undefined {
  const sections = sectionsOf(document);
  const start = sections.findIndex((section) => section.anchor === anchor);
  const depth = sections[start]?.depth;
  if (depth === undefined) return undefined;
  const next = sections.findIndex((section, at) => at > start && section.depth <= depth);
  return sections.slice(start, next === -1 ? undefined : next);
}

/** The title of a document or, with the heading of a section, of that section. */
export function titleOf({ title }: DocumentPage, heading?: string): string {
  return heading ? `${title}: ${plain(heading)}` : title;
}

export function markdownOf(sections: Section[]): string {
  return sections.flatMap(({ tokens }) => tokens.map(({ raw }) => raw)).join("");
}
