import { apiReference } from "@/lib/docs/api-reference";
import { authentication } from "@/lib/docs/authentication";
import { errors } from "@/lib/docs/errors";
import { limits } from "@/lib/docs/limits";
import { placeholderAddress } from "@/lib/docs/markdown";
import { mcp } from "@/lib/docs/mcp";
import { policy } from "@/lib/docs/policy";
import { quickStart } from "@/lib/docs/quick-start";

/** A document: one source that its page, its Markdown form, the search and the MCP server all read. */
export type DocumentPage = {
  path: "/docs" | `/docs/${string}`;
  title: string;
  /** One sentence saying what a reader finds there. */
  summary: string;
  /** Its words, made from the register, the catalogue and the limits. Links are paths of this site. */
  markdown: () => string;
};

/** Every document, in reading order. */
export const documents: readonly DocumentPage[] = [
  quickStart,
  authentication,
  apiReference,
  errors,
  limits,
  policy,
  mcp,
];

/** The document at this path. */
export function findDocument(path: string): DocumentPage | undefined {
  return documents.find((document) => document.path === path);
}

/** A document to be read away from this site: its links are whole, and samples name the service's own address. */
export function portableMarkdown(document: DocumentPage, appUrl: string): string {
  return document.markdown().replaceAll(placeholderAddress, appUrl).replaceAll("](/", `](${appUrl}/`);
}
