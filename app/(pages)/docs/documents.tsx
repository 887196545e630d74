import type { ReactNode } from "react";
import { type DocumentPage, groups } from "@/lib/docs/document";
import { documents } from "@/lib/docs/documents";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";

/** The layout of a document: the search, and all documents in reading order with the open one marked. */
export function Documents({ open, children }: { open: string; children: ReactNode }) {
  const { title } = documents.find(({ path }) => path === open) ?? {};
  return (
    <div className="documents">
      <div className="contents">
        {open !== pages.search.path && <SearchForm />}
        <details className="menu">
          <summary>{title ?? "All documents"}</summary>
          <Contents open={open} />
        </details>
        <Contents open={open} />
      </div>
      {children}
    </div>
  );
}

/** An ordinary form; from a document, `browser.ts` opens the palette instead. */
export function SearchForm({ query }: { query?: string }) {
  return (
    <search>
      <form action={pages.search.path}>
        <label className="unseen" htmlFor="search">
          Search the documents
        </label>
        <input
          id="search"
          name="q"
          type="search"
          placeholder="Search"
          autoComplete="off"
          maxLength={200}
          defaultValue={query}
        />
      </form>
    </search>
  );
}

/** Menu entries that are not documents, by group. */
const others = {
  Start: [],
  Connect: [],
  Reference: [],
  Rules: [{ path: pages.changes.path, title: "Changes" }],
  Agents: [
    { path: publications.openApi.path, title: "API description" },
    { path: publications.llms.path, title: "llms.txt" },
  ],
  Help: [{ path: pages.status.path, title: "Status" }],
} as const;

function Contents({ open }: { open: string }) {
  return (
    <nav aria-label="Documents">
      {groups.map((group) => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>
            {[...documents.filter((document) => document.group === group), ...others[group]].map((entry) => (
              <li key={entry.path}>
                <a href={entry.path} aria-current={entry.path === open ? "page" : undefined}>
                  <Name of={entry} />
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

/** The title of a document; an operation's shows its method as a badge. */
export function Name({ of: { title, operation } }: { of: Pick<DocumentPage, "title" | "operation"> }) {
  const method = operation?.methods[0];
  if (!method) return title;
  return (
    <>
      <span className="method" data-method={method}>
        {method}
      </span>{" "}
      <code>{title.replace(`${method} /api`, "")}</code>
    </>
  );
}
