import { pages } from "@/lib/http/pages";
import { readSiteBanner } from "@/lib/site-banner";
import { htmlPage } from "../html-page";
import { Light } from "../light";
import { clock, listParts, type Part } from "./parts";

/** The current state of this service. No history is stored, so none is shown. */
export const GET = htmlPage(pages.status, async ({ nowMs }) => {
  const [parts, notice] = await Promise.all([listParts(nowMs), readSiteBanner(nowMs)]);
  return {
    title: "Status",
    description: "The current state of this service.",
    content: (
      <>
        <h1>{inAWord(parts)}</h1>
        <p className="lead">
          Last checked at <time dateTime={new Date(nowMs).toISOString()}>{clock(nowMs)}</time>.
        </p>
        <ul className="parts">
          {parts.map(({ name, colour, says }) => (
            <li key={name}>
              <h2>{name}</h2>
              <Light colour={colour}>{says}</Light>
            </li>
          ))}
        </ul>
        <h2>Notice</h2>
        <p>{notice ? notice.message : "None."}</p>
        <p className="actions">
          <a className="button plain" href={pages.status.path}>
            Check again
          </a>
        </p>
        <p className="quiet">
          Monitors use <a href={pages.healthOperation.path}>GET /api/health</a>.
        </p>
      </>
    ),
  };
});

function inAWord(parts: readonly Part[]): string {
  const [first, ...others] = parts.filter(({ colour }) => colour !== "good");
  if (!first) return "Everything works";
  return others.length === 0 ? `Everything works except: ${first.name}` : "Some parts have problems";
}
