import { changes } from "@/lib/docs/changes";
import { anchorOf } from "@/lib/docs/markdown";
import { handlePage } from "@/lib/http/page";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { listRetirements, minNoticeDays } from "@/lib/http/retirement";
import { wide } from "../html-page";
import { formatInstant } from "../instant";

const { changesFeed } = publications;

/** Past and announced changes of the API. */
export const { GET } = handlePage(pages.changes, wide, () => ({
  title: "Changes",
  description: "Changes to the API, newest first, and planned retirements.",
  headers: ["link", `<${changesFeed.path}>; rel="alternate"; type="application/atom+xml"`],
  content: (
    <>
      <link rel="alternate" type="application/atom+xml" title="Changes" href={changesFeed.path} />
      <h1>Changes</h1>
      <p className="lead">
        Changes to the API, newest first. <a href={changesFeed.path}>Subscribe to the feed</a>
      </p>
      {changes.map(({ on, version, what }) => (
        <section key={version} id={version} className="change">
          <h2>{version}</h2>
          <time className="quiet" dateTime={on}>
            {formatInstant(Date.parse(on), "date", "UTC")}
          </time>
          <p>{withCode(what)}</p>
        </section>
      ))}
      <h2>Being retired</h2>
      {listRetirements().length === 0 ? (
        <p>
          Nothing. We announce retirements here at least {minNoticeDays} days ahead.{" "}
          <a href={pages.policy.path}>Read the policy</a>
        </p>
      ) : (
        <ul>
          {listRetirements().map(({ what, retirement: { sunsetAt, guide } }) => (
            <li key={what} id={anchorOf(what)}>
              {what}: returns 410 from{" "}
              <time dateTime={sunsetAt}>{formatInstant(Date.parse(sunsetAt), "date", "UTC")}</time>.{" "}
              <a href={guide}>How to migrate</a>
            </li>
          ))}
        </ul>
      )}
    </>
  ),
}));

/** A text with the names between its backticks as code. */
const withCode = (text: string) =>
  text.split("`").map((part, at) => (at % 2 === 1 ? <code key={part}>{part}</code> : part));
