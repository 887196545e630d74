import { type Page, pages } from "@/lib/http/register/pages";
import { findSessionGroup } from "./session-groups";
import type { SessionsProps } from "./sessions";

type AccessHeadProps = Pick<SessionsProps, "read"> & { at: Page; query: Record<string, string> };

/** The title of the two pages of access, their names, and what was ended a moment ago. */
export function AccessHead({ at, query, read }: AccessHeadProps) {
  return (
    <>
      <h1>Access</h1>
      <nav className="parts" aria-label="Access">
        {Object.entries({ "Apps and browsers": pages.access, "For developers": pages.developers }).map(
          ([name, page]) => (
            <a key={page.path} href={page.path} aria-current={page === at ? "page" : undefined}>
              {name}
            </a>
          ),
        )}
      </nav>
      {query.ended !== undefined && (
        <p role="status" id="ended" tabIndex={-1}>
          {findSessionGroup(query.ended)?.done ?? "Disconnected. It no longer has access."}
        </p>
      )}
      {!read && (
        <p className="quiet">
          We cannot show your sessions at the moment. Nothing is lost. Reload this page in a moment.
        </p>
      )}
    </>
  );
}
