import { SiteHeader } from "@/app/(pages)/site-header";
import type { Operator } from "@/lib/auth/operators";
import type { ApiError } from "@/lib/http/errors";
import { renderHtml } from "@/lib/http/render-html";
import { officeFiles } from "@/lib/office/files";
import { isConflict, type OfficePage, type OfficeView, signInPaths } from "@/lib/office/page";
import { officePages } from "@/lib/office/routes";
import { toTheMinute, UntrustedText } from "@/lib/office/values";
import { toPrintable } from "@/lib/runtime/printable";
import { version } from "@/package.json";

const currentOf = (entry: OfficePage, page: OfficePage | undefined) =>
  entry === page ? "page" : entry.path === page?.section || undefined;

/** Which page is shown to whom, and why its act was refused or what it did. Before sign-in nothing of it is known. */
export type Place = {
  page?: OfficePage;
  operator?: Operator;
  problem?: ApiError | undefined;
  done?: string | undefined;
};

/** Renders a whole page. Its values come from strangers, so nothing invisible reaches the browser. */
export async function renderPage(shown: OfficeView, place: Place): Promise<string> {
  const html = await renderHtml(<Frame {...shown} {...place} />);
  return html.split(/\r?\n/).map(toPrintable).join("\n"); // what was typed in several lines has both
}

function Frame({ title, content, isNarrow, page, operator, problem, done }: OfficeView & Place) {
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
        <SiteHeader home="/" name="Office">
          {operator &&
            officePages.map(
              (entry) =>
                entry.name && (
                  <a key={entry.path} href={entry.path} aria-current={currentOf(entry, page)}>
                    {entry.name}
                  </a>
                ),
            )}
        </SiteHeader>
        <main id="main">
          <div className={isNarrow ? "narrow" : undefined}>
            <h1>
              <UntrustedText>{title}</UntrustedText>
            </h1>
            {problem && (
              <div className={isConflict(problem) ? "problem conflict" : "problem"} role="alert">
                <p>{toTheMinute(problem.message)}</p>
                <p>{problem.hint}</p>
              </div>
            )}
            {done && (
              <p role="status" className="done">
                {done}
              </p>
            )}
            {content}
          </div>
        </main>
        {operator && (
          <footer className="foot">
            <form method="post" action={signInPaths.leave}>
              <p>
                Signed in as <b>{operator.name}</b>. Everything that you change here is recorded under this
                name. This is release {version}.
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
