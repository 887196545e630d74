import type { ReactNode } from "react";
import { pages } from "@/lib/api/pages";
import { documents } from "@/lib/docs/documents";

/** What is around a document: the search, and all documents in reading order, the open one marked. */
export function Documents({ open, children }: { open: string; children: ReactNode }) {
  return (
    <div className="documents">
      <div className="contents">
        <Search />
        <nav aria-label="Documents">
          <ul>
            {documents.map(({ path, title }) => (
              <li key={path}>
                <a href={path} aria-current={path === open ? "page" : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
      {children}
    </div>
  );
}

/** An ordinary form; `browser.ts` makes a list of hits of it while one types. */
function Search() {
  return (
    <search>
      <form action={pages.search.path}>
        <label htmlFor="search">Search the documents</label>
        <input id="search" name="q" type="search" autoComplete="off" maxLength={200} />
        <div id="search-hits" role="listbox" aria-label="Hits" hidden />
      </form>
    </search>
  );
}
