import type { Handlers } from "@/app/answer-each";
import { readClient } from "@/lib/docs/client-files";
import { publishedMarkdown } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { type MakePublication, plainText, publish } from "@/lib/docs/publication-handler";
import { documentPages } from "@/lib/http/register/pages";
import { clientFiles, markdownForm } from "@/lib/http/register/publications";
import type { Route } from "@/lib/http/route";
import { documentPage } from "./document";

/** The handlers of the documents, of each in Markdown, and of the client files. */
export const documentHandlers: Handlers = new Map([
  ...Object.values(documentPages).map((page) => [page.path as string, documentPage(page)] as const),
  ...documents.map((document) => handlerOf(markdownForm(document), () => publishedMarkdown(document))),
  ...Object.keys(clientFiles).map((name) => handlerOfClient(name as keyof typeof clientFiles)),
]);

function handlerOf(route: Route, make: MakePublication) {
  return [route.path as string, publish(route, make)] as const;
}

/** A client file: plain text, because no media type of these languages is registered. It never changes. */
function handlerOfClient(language: keyof typeof clientFiles) {
  const route: Route = clientFiles[language];
  const headers = ["content-disposition", `attachment; filename="${route.path.split("/").at(-1)}"`];
  return handlerOf(route, () => ({ ...plainText([readClient(language)]), headers }));
}
