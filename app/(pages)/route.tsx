import { operations } from "@/lib/api/operations";
import { pages, publications } from "@/lib/api/pages";
import { htmlPage } from "./html-page";

/** Where a program that knows only our address finds the rest (RFC 9727 §3, RFC 8631). */
const discovery = [
  `<${publications.apiCatalog.path}>; rel="api-catalog"`,
  `<${publications.openApi.path}>; rel="service-desc"; type="application/json"`,
  `<${pages.quickStart.path}>; rel="service-doc"; type="text/html"`,
].join(", ");

export const GET = htmlPage(pages.front, () => ({ content: <FrontPage />, headers: ["link", discovery] }));

function FrontPage() {
  return (
    <>
      <h1>Run a company of AI assistants</h1>
      <p className="lead">
        You are the CEO: assistants work in your own apps, and nothing is sent, published, deployed or charged
        before you approve it there. This service tells those apps whether the company may run and what
        credits it has.
      </p>
      <p className="actions">
        <a className="button" href={pages.waitlist.path}>
          Join the waitlist
        </a>
        <a className="button plain" href={pages.signIn.path}>
          Sign in
        </a>
      </p>
      <h2>The public API</h2>
      <p>
        Five operations for desktop apps, phone apps, monitors, mail clients and programs.{" "}
        <a href={pages.quickStart.path}>Read the documents</a>
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col">Purpose</th>
          </tr>
        </thead>
        <tbody>
          {Object.values(operations).map(({ path, methods, summary }) => (
            <tr key={path}>
              <td>
                <code>
                  {methods[0]} {path}
                </code>
              </td>
              <td>{summary}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
