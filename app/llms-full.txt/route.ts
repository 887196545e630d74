import { settings } from "@/lib/config/settings";
import { makePortable } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/pages";

/** All documents in one text, in reading order, for assistants that read no links (llmstxt.org). */
export const GET = publish(publications.llmsFull, () => ({
  type: "text/plain; charset=utf-8",
  body: documents.map(({ markdown }) => makePortable(markdown(), settings().appUrl)).join("\n"),
}));
