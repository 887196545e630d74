import { settings } from "@/lib/config/settings";
import { makePortable } from "@/lib/docs/document";
import { findDocument } from "@/lib/docs/documents";
import { markdownOf, type Section, sectionsAt, sectionsOf, titleOf } from "@/lib/docs/sections";
import { ApiError } from "@/lib/http/errors";

/** About 2,000 tokens: a longer answer would crowd out the rest of a model's context. */
export const maxCharacters = 8000;

type Reading = { path: string; title: string; summary: string; text: string };

/**
 * The document or section at a path or an address, also of its Markdown or its resource: what fits, and the paths of the rest.
 * Throws an {@link ApiError} 404.
 */
export function readDocumentForModel(pathOrUrl: string): Reading {
  const { appUrl } = settings();
  const [sent = "", anchor] = pathOrUrl.replace(appUrl, "").split("#");
  const path = sent.replace(/^(?:corner-office:)?\/*/, "/").replace(/(?:\.md|\/)$/, "");
  const document = findDocument(path);
  if (!document) throw notFound("Use a path from search_docs or from the list of resources.");
  const movedTo = anchor && document.moved?.[anchor];
  if (movedTo) return readDocumentForModel(movedTo);
  const sections = anchor ? sectionsAt(document, anchor) : sectionsOf(document);
  if (!sections) throw notFound(`The sections are ${listPaths(path, sectionsOf(document))}.`);
  const kept = firstSections(sections);
  const rest = listPaths(path, sections.slice(kept.length));
  const more = rest && `\n(This is only the beginning. Read the other sections at: ${rest}.)\n`;
  return {
    path: anchor ? `${path}#${anchor}` : path,
    title: titleOf(document, anchor && sections[0]?.heading),
    summary: document.summary,
    text: makePortable(markdownOf(kept) + more),
  };
}

function notFound(hint: string): ApiError {
  return new ApiError("not_found", { message: "There is no document with this path.", hint });
}

/** The first section, and as many of the next as fit. */
function firstSections(sections: Section[]): Section[] {
  let count = 1;
  while (count < sections.length && markdownOf(sections.slice(0, count + 1)).length <= maxCharacters) count++;
  return sections.slice(0, count);
}

/** The paths of sections, without their subsections. */
function listPaths(path: string, sections: Section[]): string {
  let depth = Number.POSITIVE_INFINITY;
  const outermost = sections.filter((section) => {
    if (section.anchor === undefined || section.depth > depth) return false;
    depth = section.depth;
    return true;
  });
  return outermost.map(({ anchor }) => `${path}#${anchor}`).join(", ");
}
