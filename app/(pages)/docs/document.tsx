import { type DocumentPage, publishedMarkdown } from "@/lib/docs/document";
import { documents, findDocument } from "@/lib/docs/documents";
import { renderDocument } from "@/lib/docs/html";
import { prefersMarkdown } from "@/lib/http/accept-header";
import type { RouteHandler } from "@/lib/http/handler";
import { handlePage } from "@/lib/http/page";
import { markdownPath, type Page } from "@/lib/http/register/pages";
import { type PageContent, wide } from "../html-page";
import { Documents, Name } from "./documents";

/** The route handler of a document. */
export function documentPage(page: Page): RouteHandler {
  const document = findDocument(page.path);
  if (!document) throw new Error(`${page.path} has no document`);
  return handlePage(page, wide, ({ headers }) =>
    prefersMarkdown(headers)
      ? { ...publishedMarkdown(document), status: 200, caching: "public, no-cache" }
      : show(document),
  );
}

function show(document: DocumentPage): PageContent {
  const { path, title, summary } = document;
  return {
    title,
    description: summary,
    headers: ["link", `<${markdownPath(path)}>; rel="alternate"; type="text/markdown"`, "vary", "Accept"],
    content: document.group ? (
      <Documents open={path}>
        <Article document={document} />
      </Documents>
    ) : (
      <Article document={document} />
    ),
  };
}

function Article({ document }: { document: DocumentPage }) {
  const { intro, html, panel, sections } = renderDocument(document);
  const markdown = markdownPath(document.path);
  const layout = panel ? "operation" : document.showsSamplesBeside ? "beside" : "alone";
  return (
    <div className={`document ${layout}`}>
      <link rel="alternate" type="text/markdown" href={markdown} />
      <article>
        <div>
          <Moved to={document.moved} />
          {document.group && <p className="group">{document.group}</p>}
          <Markup className="prose" html={intro} />
        </div>
        {panel && (
          <aside className="panel" aria-label="The request and its responses" data-runs={runs(document)}>
            <Markup html={panel} />
          </aside>
        )}
        <Markup className="prose" html={html} />
      </article>
      {layout === "alone" && (
        <nav className="sections" aria-labelledby="on-this-page">
          <p id="on-this-page">On this page</p>
          <ul>
            {sections.map(({ anchor, title, depth }) => (
              <li key={anchor} data-depth={depth}>
                <Markup as="a" href={`#${anchor}`} html={title} />
              </li>
            ))}
          </ul>
        </nav>
      )}
      <NextTo document={document} />
    </div>
  );
}

/** For an old link to a section that is elsewhere now: shown while the link's anchor is the target. */
function Moved({ to = {} }: { to?: Record<string, string> | undefined }) {
  return Object.entries(to).map(([anchor, path]) => (
    <p key={anchor} id={anchor} className="moved">
      This section has moved to <a href={path}>{findDocument(path.split("#")[0] ?? "")?.title}</a>
    </p>
  ));
}

/** The path of the page's operation, if a reader can try it here: not if it needs a signed link. */
function runs({ operation }: DocumentPage): string | undefined {
  return operation?.access === "signed link" ? undefined : operation?.path;
}

type MarkupProps = { as?: "div" | "a"; html: string; className?: string; href?: string };

/** HTML of a document. */
function Markup({ as: Element = "div", html, ...attributes }: MarkupProps) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it is made from our own Markdown, which no one else writes.
  return <Element {...attributes} dangerouslySetInnerHTML={{ __html: html }} />;
}

function NextTo({ document }: { document: DocumentPage }) {
  const inMenu = documents.filter(({ group }) => group);
  const at = inMenu.indexOf(document);
  const [before, after] = at < 0 ? [] : [inMenu[at - 1], inMenu[at + 1]];
  return (
    <div className="after">
      <p>
        <a href={markdownPath(document.path)} data-copies="page">
          This page as Markdown
        </a>
      </p>
      <nav className="next" aria-label="Previous and next">
        {before && (
          <a rel="prev" href={before.path}>
            <small>Previous</small>
            <Name of={before} />
          </a>
        )}
        {after && (
          <a rel="next" href={after.path}>
            <small>Next</small>
            <Name of={after} />
          </a>
        )}
      </nav>
    </div>
  );
}
