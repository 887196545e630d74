import { settings } from "@/lib/config/settings";
import { makePortable } from "@/lib/docs/document";
import { findDocument } from "@/lib/docs/documents";
import { markdownOf, type Section, sectionsAt, sectionsOf } from "@/lib/docs/sections";
import { ApiError } from "@/lib/http/errors";

/** About 2,000 tokens: more of a document at once crowds out what a model was about. */
export const maxCharacters = 8000;

/**
 * The document, or its section, at a path as a model writes it: with our address before it or without. Of what is too
 * long come whole sections from the beginning, and the paths of the rest. Throws an {@link ApiError} when there is none.
 */
export function readDocumentForModel(asked: string): string {
  const { appUrl } = settings();
  const [path = "", anchor] = asked.replace(appUrl, "").split("#");
  const document = findDocument(path);
  if (!document) throw notFound("Take a path from search_docs, or from the list of resources.");
  const sections = anchor ? sectionsAt(document, anchor) : sectionsOf(document);
  if (!sections) throw notFound(`The sections are ${listPaths(path, sectionsOf(document))}.`);
  const kept = keepFirst(sections);
  const rest = listPaths(path, sections.slice(kept.length));
  const more = rest && `\n(This is the beginning. Read the rest by section: ${rest}.)\n`;
  return makePortable(markdownOf(kept) + more, appUrl);
}

function notFound(hint: string): ApiError {
  return new ApiError("not_found", { message: "There is no document with this path.", hint });
}

/** The first section, however long, and those after it for which there is room. */
function keepFirst(sections: Section[]): Section[] {
  let most = 1;
  while (most < sections.length && markdownOf(sections.slice(0, most + 1)).length <= maxCharacters) most++;
  return sections.slice(0, most);
}

/** Where sections are read; those under another come with it. */
function listPaths(path: string, sections: Section[]): string {
  let depth = Number.POSITIVE_INFINITY;
  const outermost = sections.filter((section) => {
    if (section.anchor === undefined || section.depth > depth) return false;
    depth = section.depth;
    return true;
  });
  return outermost.map(({ anchor }) => `${path}#${anchor}`).join(", ");
}
