import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { documents, findDocument } from "@/lib/docs/documents";
import { renderDocument } from "@/lib/docs/html";

type Props = { params: Promise<{ path?: string[] }> };

export const dynamicParams = false;

export function generateStaticParams() {
  return documents.map(({ path }) => ({ path: path.split("/").slice(2) }));
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { title, summary } = await readDocument(params);
  return { title, description: summary, openGraph: { title, description: summary, type: "article" } };
}

/** A document, rendered when the service is built. */
export default async function DocumentPage({ params }: Props) {
  const document = await readDocument(params);
  const { html, sections } = renderDocument(document);
  return (
    <div className="document">
      <link rel="alternate" type="text/markdown" href={`${document.path}.md`} />
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: made from our own Markdown at build. */}
      <article dangerouslySetInnerHTML={{ __html: html }} />
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
          <a href={`${document.path}.md`}>This page in Markdown</a>
        </p>
      </nav>
    </div>
  );
}

async function readDocument(params: Props["params"]) {
  const { path = [] } = await params;
  return findDocument(["/docs", ...path].join("/")) ?? notFound();
}
