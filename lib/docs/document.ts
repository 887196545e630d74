import type { documentPages } from "@/lib/api/pages";
import { placeholderAddress } from "@/lib/docs/markdown";

/** A document: one source that its page, its Markdown form, the search and the MCP server all read. */
export type DocumentPage = {
  path: (typeof documentPages)[keyof typeof documentPages]["path"];
  title: string;
  /** One sentence saying what a reader finds there. */
  summary: string;
  /** Its words, made from the register, the catalogue and the limits. Links are paths of this site. */
  markdown: () => string;
};

/** A document to be read away from this site: its links are whole, and samples name the service's own address. */
export function portableMarkdown(document: DocumentPage, appUrl: string): string {
  return document.markdown().replaceAll(placeholderAddress, appUrl).replaceAll("](/", `](${appUrl}/`);
}
