import type { Metadata } from "next";
import { searchDocuments } from "@/lib/docs/search";

type Props = { searchParams: Promise<{ q?: string | string[] }> };

const mostHits = 20;

export const metadata: Metadata = { title: "Search the documents", robots: { index: false } };

/** The search without JavaScript, and all hits with it. */
export default async function SearchPage({ searchParams }: Props) {
  const { q = "" } = await searchParams;
  const query = String(q).slice(0, 200);
  const hits = searchDocuments(query, mostHits);
  return (
    <article>
      <h1>Search the documents</h1>
      <p role="status">
        {query === ""
          ? "Type a word above."
          : `${hits.length === 0 ? "Nothing" : hits.length} found for “${query}”.`}
      </p>
      <ol className="hits">
        {hits.map(({ path, title, snippet }) => (
          <li key={path}>
            <a href={path}>{title}</a>
            <p>{snippet}</p>
          </li>
        ))}
      </ol>
    </article>
  );
}
