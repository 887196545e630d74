import { describeSeconds } from "@/lib/config/durations";
import { handlePage } from "@/lib/http/page";
import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { readSiteBanner } from "@/lib/site-banner";
import { maxListed, type Outage, outageDays } from "@/lib/status/outages";
import { clock, type Part, readStatus } from "@/lib/status/parts";
import { ButtonLink } from "../button-link";
import { Clock } from "../clock";
import { wide } from "../html-page";
import { PartList } from "../status-light";

/** The current state of this service, and its outages of the last 90 days. */
export const { GET } = toPlatform(
  handlePage(
    pages.status,
    async ({ nowMs }) => {
      const [{ parts, outages }, notice] = await Promise.all([readStatus(nowMs), readSiteBanner(nowMs)]);
      return {
        title: "Status",
        description: "The current state of this service.",
        content: (
          <>
            <h1>{inAWord(parts)}</h1>
            <p className="lead">
              Last checked at <time dateTime={new Date(nowMs).toISOString()}>{clock(nowMs)}</time>.
            </p>
            <PartList parts={parts} />
            <h2>Last {outageDays} days</h2>
            <History outages={outages} />
            <h2>Notice</h2>
            <p>{notice ? notice.message : "None."}</p>
            <ButtonLink to={pages.status.path} isPlain>
              Check again
            </ButtonLink>
            <p className="quiet">
              Monitors use <a href={pages.healthOperation.path}>GET /api/health</a>, or this page{" "}
              <a href={publications.statusData.path}>as data</a>.
            </p>
          </>
        ),
      };
    },
    wide,
  ),
);

/** The outages of each part, or why there are none to show. */
function History({ outages }: { outages: Outage[] | undefined }) {
  if (!outages) return <p>The store is unavailable, and the history with it.</p>;
  if (outages.length === 0) return <p>No outage was recorded.</p>;
  return (
    <>
      <ul>
        {outages.map(({ part, started_at_ms, ended_at_ms }) => (
          <li key={`${part} ${started_at_ms}`}>
            {part}: <Clock atMs={started_at_ms} shows="day and time" />{" "}
            {ended_at_ms === null ? (
              "until now"
            ) : (
              <>
                to <Clock atMs={ended_at_ms} shows="day and time" /> (
                {describeLength(ended_at_ms - started_at_ms)})
              </>
            )}
          </li>
        ))}
      </ul>
      {outages.length === maxListed && <p className="quiet">At most {maxListed} are shown here.</p>}
    </>
  );
}

/** For example `3 minutes`. */
function describeLength(ms: number): string {
  return ms < 60_000 ? "under a minute" : describeSeconds(Math.round(ms / 60_000) * 60);
}

function inAWord(parts: readonly Part[]): string {
  const [first, ...others] = parts.filter(({ colour }) => colour !== "good");
  if (!first) return "Everything works";
  if (others.length > 0) return "Some parts have problems";
  return `${first.name}: ${first.says.charAt(0).toLowerCase()}${first.says.slice(1)}`;
}
