import { searchDocuments } from "@/lib/docs/search";
import { handlePage } from "@/lib/http/page";
import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { wide } from "../../html-page";
import { Documents } from "../documents";

const maxHits = 20;

/** The results page: the search without JavaScript, and every hit of a palette search. */
export const { GET } = toPlatform(
  handlePage(
    pages.search,
    ({ url }) => ({
      title: "Search the documents",
      content: (
        <Documents open={pages.search.path}>
          <Hits query={(url.searchParams.get("q") ?? "").slice(0, 200)} />
        </Documents>
      ),
    }),
    wide,
  ),
);

function Hits({ query }: { query: string }) {
  const hits = searchDocuments(query, maxHits);
  return (
    <article className="hits">
      <h1>Search the documents</h1>
      <p role="status">
        {query === ""
          ? "Enter a word above."
          : `${hits.length === 0 ? "Nothing" : hits.length} found for “${query}”.`}
      </p>
      <ol>
        {hits.map(({ path, title, snippet }) => (
          <li key={path}>
            <a href={path}>{title}</a>
            <p className="quiet">{snippet}</p>
          </li>
        ))}
      </ol>
    </article>
  );
}
