import { placeholderAddress } from "@/lib/docs/markdown";
import type { documentPages } from "@/lib/http/pages";

/** A document: one source that its page, its Markdown form, the search and the MCP server all read. */
export type DocumentPage = {
  path: (typeof documentPages)[keyof typeof documentPages]["path"];
  title: string;
  /** Where it stands among the documents. */
  group: Group;
  /** The method of the operation that it describes. */
  method?: string;
  /** One sentence saying what a reader finds there. */
  summary: string;
  /** Its words, made from the register, the catalogue and the limits. Links are paths of this site. */
  markdown: () => string;
  /** The headings of sections that its page shows beside the others. */
  beside?: readonly string[];
};

/** What a reader is after, in reading order. */
export const groups = ["Start", "Reference", "Rules", "Agents"] as const;

type Group = (typeof groups)[number];

/** A document to be read away from this site. */
export function portableMarkdown(document: DocumentPage, appUrl: string): string {
  return makePortable(document.markdown(), appUrl);
}

/** Markdown to be read away from this site: its links are whole, and samples name the service's own address. */
export function makePortable(markdown: string, appUrl: string): string {
  return markdown.replaceAll(placeholderAddress, appUrl).replaceAll("](/", `](${appUrl}/`);
}
