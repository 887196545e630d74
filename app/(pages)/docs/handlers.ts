import { publishClient, readClient } from "@/lib/docs/client-files";
import { publishedMarkdown } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { publish } from "@/lib/docs/publication-handler";
import type { RouteHandler } from "@/lib/http/handler";
import { documentPages } from "@/lib/http/register/pages";
import { clientFiles, markdownForm } from "@/lib/http/register/publications";
import { documentPage } from "./document";

/** The handlers of the documents, of each in Markdown, and of the client files. */
export const documentHandlers: readonly RouteHandler[] = [
  ...Object.values(documentPages).map(documentPage),
  ...documents.map((document) => publish(markdownForm(document), () => publishedMarkdown(document))),
  ...(Object.keys(clientFiles) as (keyof typeof clientFiles)[]).map((language) =>
    publishClient(clientFiles[language], () => readClient(language)),
  ),
];
