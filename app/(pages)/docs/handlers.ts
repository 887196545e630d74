import { readClient } from "@/lib/docs/client-files";
import { publishedMarkdown } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { plainText, publish } from "@/lib/docs/publication-handler";
import type { RouteHandler } from "@/lib/http/handler";
import { documentPages } from "@/lib/http/register/pages";
import { clientFiles, markdownForm } from "@/lib/http/register/publications";
import type { Route } from "@/lib/http/route";
import { documentPage } from "./document";

/** The handlers of the documents, of each in Markdown, and of the client files. */
export const documentHandlers: readonly RouteHandler[] = [
  ...Object.values(documentPages).map(documentPage),
  ...documents.map((document) => publish(markdownForm(document), () => publishedMarkdown(document))),
  ...Object.keys(clientFiles).map((name) => clientHandler(name as keyof typeof clientFiles)),
];

/** A client file: plain text, because no media type of these languages is registered. It never changes. */
function clientHandler(language: keyof typeof clientFiles): RouteHandler {
  const route: Route = clientFiles[language];
  const headers = ["content-disposition", `attachment; filename="${route.path.split("/").at(-1)}"`];
  return publish(route, () => ({ ...plainText([readClient(language)]), headers }));
}
