import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Mark } from "@/app/(pages)/mark";
import { doors } from "@/lib/office/door-paths";
import { officeFiles } from "@/lib/office/files";
import type { Operator } from "@/lib/office/operators";
import type { OfficePage } from "@/lib/office/page";
import { officePages } from "@/lib/office/routes";
import { toPrintable } from "@/lib/runtime/printable";

const currentOf = (entry: OfficePage, page: OfficePage | undefined) =>
  entry === page ? "page" : entry.path === page?.section || undefined;

type Whole = {
  title: string;
  page: OfficePage | undefined;
  /** None before sign-in. */
  operator: Operator | undefined;
  content: ReactNode;
};

/** Renders a whole page. Its values come from strangers, so nothing invisible reaches the browser. */
export function renderPage(whole: Whole): string {
  const html = renderToStaticMarkup(<Frame {...whole} />);
  return `<!doctype html>${html.split("\n").map(toPrintable).join("\n")}`;
}

function Frame({ title, page, operator, content }: Whole) {
  return (
    <html lang="en">
      {/* biome-ignore lint/style/noHeadElement: Next does not render the office */}
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{`${title} · Office`}</title>
        <link rel="stylesheet" href={officeFiles.style.path} />
        <link rel="icon" href={officeFiles.icon.path} type="image/svg+xml" />
        <script defer src={officeFiles.script.path} />
      </head>
      <body>
        <a className="skip" href="#main">
          Skip to content
        </a>
        <header className="site">
          <nav aria-label="Main">
            <a className="brand" href="/">
              <Mark />
              Office
            </a>
            {operator &&
              officePages.map(
                (entry) =>
                  entry.name && (
                    <a key={entry.path} href={entry.path} aria-current={currentOf(entry, page)}>
                      {entry.name}
                    </a>
                  ),
              )}
          </nav>
        </header>
        <main id="main">{content}</main>
        {operator && (
          <footer className="foot">
            <form method="post" action={doors.leave}>
              <p>
                Signed in as <b>{operator.name}</b>. Everything that you change here is recorded under this
                name.
              </p>
              <button type="submit" className="linklike">
                Sign out
              </button>
            </form>
          </footer>
        )}
      </body>
    </html>
  );
}
