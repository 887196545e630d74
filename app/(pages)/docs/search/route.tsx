import { documents, findDocument } from "@/lib/docs/documents";
import { to } from "@/lib/docs/markdown";
import { markFound, type SearchHit, searchDocuments } from "@/lib/docs/search";
import { handlePage } from "@/lib/http/page";
import { pages } from "@/lib/http/register/pages";
import { wide } from "../../html-page";
import { Documents, SearchForm } from "../documents";

const maxHits = 20;

/** The results page: the search without JavaScript, and every hit of a palette search. */
export const { GET } = handlePage(pages.search, wide, ({ url }) => {
  const query = (url.searchParams.get("q") ?? "").trim().slice(0, 200);
  return {
    title: query ? `“${query}” in the documents` : "Search the documents",
    content: (
      <Documents open={pages.search.path}>
        <Results query={query} />
      </Documents>
    ),
  };
});

function Results({ query }: { query: string }) {
  const hits = searchDocuments(query, maxHits);
  const byDocument = [...Map.groupBy(hits, ({ path }) => path.split("#")[0] ?? "")];
  return (
    <article className="hits">
      <h1>Search the documents</h1>
      <SearchForm query={query} />
      <p role="status">{describe(query, hits.length, byDocument.length)}</p>
      {byDocument.map(([path, found]) => (
        <HitsOfDocument key={path} path={path} hits={found} />
      ))}
      {hits.length === 0 && <Suggestions isRetry={query !== ""} />}
    </article>
  );
}

function describe(query: string, hits: number, inDocuments: number): string {
  if (query === "") return `A word, an error code or a path, in ${documents.length} documents.`;
  if (hits === 0) return `Nothing found for “${query}”.`;
  const most = hits === maxHits ? "The best " : "";
  return `${most}${count(hits, "result")} in ${count(inDocuments, "document")} for “${query}”.`;
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** The hits in one document, the best first. */
function HitsOfDocument({ path, hits }: { path: string; hits: SearchHit[] }) {
  const { title = "", summary } = findDocument(path) ?? {};
  const whole = hits.find((hit) => hit.path === path);
  return (
    <section>
      <h2>
        <a href={path}>
          <Marked text={title} found={hits.flatMap(({ found }) => found)} />
        </a>
      </h2>
      {whole && (
        <p className="quiet">
          <Marked text={whole.snippet} found={whole.found} />
        </p>
      )}
      <ol>
        {hits.map((hit) =>
          hit === whole ? null : (
            <li key={hit.path}>
              <a href={hit.path}>
                <Marked text={hit.title.slice(title.length + 2)} found={hit.found} />
              </a>
              {hit.snippet !== summary && (
                <p className="quiet">
                  <Marked text={hit.snippet} found={hit.found} />
                </p>
              )}
            </li>
          ),
        )}
      </ol>
    </section>
  );
}

function Marked({ text, found }: { text: string; found: string[] }) {
  return markFound(text, found).map(({ at, text, isFound }) =>
    isFound ? <mark key={at}>{text}</mark> : text,
  );
}

const suggested = [
  [to.quickStart, "Ask whether a company may run, in five minutes"],
  [to.connectAnApp, "Connect an app"],
  [`${to.mcp}#claude-code`, "Connect Claude Code"],
  [to.errors, "What an error code means"],
  [`${to.limits}#backing-off`, "What to do after a 429"],
  [`${to.webhooks}#verify-a-delivery`, "Verify a webhook"],
  [to.support, "Ask a person"],
] as const;

function Suggestions({ isRetry }: { isRetry: boolean }) {
  return (
    <section>
      <h2>{isRetry ? "Try this" : "Often looked for"}</h2>
      {isRetry && (
        <p>
          Search for one word instead of several, for an error code such as <code>trial_ended</code>, or for a
          path such as <code>/api/entitlement</code>.
        </p>
      )}
      <ol>
        {suggested.map(([path, words]) => (
          <li key={path}>
            <a href={path}>{words}</a>
          </li>
        ))}
      </ol>
    </section>
  );
}
