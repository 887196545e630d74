import { settings } from "@/lib/config/settings";
import type { Operation } from "@/lib/http/register/operations";
import { type documentPages, markdownPath } from "@/lib/http/register/pages";

/** A document: the source of its page, its Markdown, the search and the MCP resources. */
export type DocumentPage = DocumentText & {
  path: (typeof documentPages)[keyof typeof documentPages]["path"];
};

/** What a document says. */
export type DocumentText = {
  title: string;
  /** Its place in the menu; without one, it is linked at the foot of every page instead. */
  group?: (typeof groups)[number];
  operation?: Operation;
  summary: string;
  /** Whether a wide window shows its samples beside the text that they belong to. */
  showsSamplesBeside?: true;
  /** Where sections are now that it had before, by their anchors. */
  moved?: Record<string, string>;
  /** Its text; in a page, under the title. Links are paths of this site. */
  markdown: () => string;
};

/** The groups of documents, in reading order. */
export const groups = ["Start", "Connect", "Reference", "Rules", "Agents", "Help"] as const;

/** Makes Markdown readable outside this site: links become absolute. */
export function makePortable(markdown: string): string {
  return markdown.replaceAll("](/", `](${settings().appUrl}/`);
}

/** A document in Markdown, at its own path with `.md` or for a client that prefers Markdown. */
export function publishedMarkdown({ path, markdown }: DocumentPage) {
  const { appUrl } = settings();
  return {
    mediaType: "text/markdown; charset=utf-8",
    body: makePortable(markdown()),
    headers: [
      ...["content-location", markdownPath(path)],
      ...["link", `<${appUrl}${path}>; rel="canonical"; type="text/html"`],
      ...["vary", "Accept"],
    ],
  };
}
