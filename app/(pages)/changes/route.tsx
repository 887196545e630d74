import { changes } from "@/lib/docs/changes";
import { pages, publications } from "@/lib/http/pages";
import { listRetirements } from "@/lib/http/retirement";
import { htmlPage } from "../html-page";

const { changesFeed } = publications;

/** Past and announced changes of the API. */
export const GET = htmlPage(pages.changes, () => ({
  title: "Changes",
  description: "What has changed in the API, newest first, and what is being retired.",
  headers: ["link", `<${changesFeed.path}>; rel="alternate"; type="application/atom+xml"`],
  content: (
    <>
      <link rel="alternate" type="application/atom+xml" title="Changes" href={changesFeed.path} />
      <h1>Changes</h1>
      <p className="lead">
        What has changed in the API, newest first. <a href={changesFeed.path}>Follow it as a feed</a>
      </p>
      {changes.map(({ on, version, what }) => (
        <section key={version} id={version} className="change">
          <h2>{version}</h2>
          <p className="quiet">
            <time dateTime={on}>{inWords(on)}</time>
          </p>
          <p>{what}</p>
        </section>
      ))}
      <h2>Being retired</h2>
      {listRetirements().length === 0 ? (
        <p>
          Nothing. Should anything be, it stands here at least as long before as{" "}
          <a href={pages.policy.path}>the policy</a> says.
        </p>
      ) : (
        <ul>
          {listRetirements().map(({ what, retirement: { sunsetAt, guide } }) => (
            <li key={what}>
              {what}: gone from <time dateTime={sunsetAt}>{inWords(sunsetAt)}</time> on.{" "}
              <a href={guide}>How to migrate</a>
            </li>
          ))}
        </ul>
      )}
    </>
  ),
}));

function inWords(day: string): string {
  return new Date(day).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
}
