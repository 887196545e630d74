import { documentPages, markdownPath } from "@/lib/api/pages";
import type { DocumentPage } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { renderDocument } from "@/lib/docs/html";
import { placeholderAddress } from "@/lib/docs/markdown";
import { settings } from "@/lib/settings/settings";
import { htmlPage, type Shown } from "../../html-page";
import { Documents } from "../documents";

const handlers = new Map(
  documents.map((document) => {
    const page = Object.values(documentPages).find(({ path }) => path === document.path);
    if (!page) throw new Error(`${document.path} is a document, and in no register`);
    return [document.path as string, htmlPage(page, () => show(document))];
  }),
);

export function GET(request: Request): Response | Promise<Response> {
  const handler = handlers.get(new URL(request.url).pathname);
  return handler ? handler(request) : new Response("There is no such document.\n", { status: 404 });
}

function show(document: DocumentPage): Shown {
  const { path, title, summary } = document;
  return {
    title,
    description: summary,
    headers: ["link", `<${markdownPath(path)}>; rel="alternate"; type="text/markdown"`],
    content: (
      <Documents open={path}>
        <Article document={document} />
      </Documents>
    ),
  };
}

function Article({ document }: { document: DocumentPage }) {
  const { html, sections } = renderDocument(document);
  // Samples name this very service, and so are ready to paste.
  const ours = html.replaceAll(placeholderAddress, settings().appUrl);
  return (
    <div className="document">
      <link rel="alternate" type="text/markdown" href={markdownPath(document.path)} />
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: made from our own Markdown. */}
      <article dangerouslySetInnerHTML={{ __html: ours }} />
      <nav className="sections" aria-labelledby="on-this-page">
        <p id="on-this-page">On this page</p>
        <ul>
          {sections.map(({ anchor, title }) => (
            <li key={anchor}>
              {/* biome-ignore lint/security/noDangerouslySetInnerHtml: a heading of the same Markdown, code in it. */}
              <a href={`#${anchor}`} dangerouslySetInnerHTML={{ __html: title }} />
            </li>
          ))}
        </ul>
        <p>
          <a href={markdownPath(document.path)}>This page in Markdown</a>
        </p>
      </nav>
    </div>
  );
}
