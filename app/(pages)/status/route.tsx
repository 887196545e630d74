import { dayMs } from "@/lib/config/durations";
import { handlePage } from "@/lib/http/page";
import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { readSiteBanner } from "@/lib/site-banner";
import { describeLength, maxListed, type Outage, outageDays, sumByDay } from "@/lib/status/outages";
import { clock, type Part, readStatus } from "@/lib/status/parts";
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
        headers: ["link", `<${publications.statusFeed.path}>; rel="alternate"; type="application/atom+xml"`],
        content: (
          <>
            <link
              rel="alternate"
              type="application/atom+xml"
              title="Status"
              href={publications.statusFeed.path}
            />
            <h1>{inAWord(parts)}</h1>
            <div className="checked">
              <p className="lead">
                Last checked at <time dateTime={new Date(nowMs).toISOString()}>{clock(nowMs)}</time>.{" "}
                <a href={pages.status.path}>Check again</a>
              </p>
              <a className="button plain small" href={publications.statusFeed.path}>
                Subscribe to the feed
              </a>
            </div>
            <PartList parts={parts}>
              {outages && ((part) => <Days days={sumByDay(outages, part, nowMs)} />)}
            </PartList>
            {outages && (
              <p className="days-axis quiet">
                <span>{outageDays} days ago</span>
                <span>Today</span>
              </p>
            )}
            <h2>Last {outageDays} days</h2>
            <History outages={outages?.slice(0, maxListed)} />
            {notice && (
              <>
                <h2>Notice</h2>
                <p>{notice.message}</p>
              </>
            )}
            <p className="quiet">
              The feed has an entry when an outage begins, and one when it has ended. Monitors use{" "}
              <a href={pages.healthOperation.path}>GET /api/health</a>, or this page{" "}
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
      <ul className="outages">
        {outages.map(({ part, started_at_ms, ended_at_ms }) => (
          <li key={`${part} ${started_at_ms}`}>
            <b>{part}</b>
            <span>
              <Clock atMs={started_at_ms} shows="day and time" />{" "}
              {ended_at_ms === null ? (
                "until now"
              ) : (
                <>
                  to <Clock atMs={ended_at_ms} shows={endOf(ended_at_ms - started_at_ms)} />
                </>
              )}
            </span>
            {ended_at_ms !== null && <span>{describeLength(ended_at_ms - started_at_ms)}</span>}
          </li>
        ))}
      </ul>
      {outages.length === maxListed && <p className="quiet">At most {maxListed} are shown here.</p>}
    </>
  );
}

/** The end of an outage of less than half a day needs no day of its own. */
const endOf = (ms: number) => (ms < dayMs / 2 ? "time" : "day and time");

const tick = 4;
const height = 24;
const low = 16;

/** A tick for each day, today last: a low one without an outage, a full one with one, thicker where that was half an hour. */
function Days({ days }: { days: readonly number[] }) {
  const width = days.length * tick;
  const draw = (isOf: (ms: number) => boolean, of: number) =>
    days.map((ms, at) => (isOf(ms) ? `M${at * tick} 0h${of}v${height}h-${of}z` : "")).join("");
  const out = days.filter((ms) => ms > 0);
  const length = describeLength(out.reduce((sum, ms) => sum + ms, 0));
  return (
    <div className="outage-days">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path
          d={`M0 ${height - low / 2}h${width}`}
          stroke="var(--good)"
          strokeWidth={low}
          strokeDasharray={`${tick - 1.5} 1.5`}
        />
        <path d={draw((ms) => ms > 0 && ms < longMs, tick - 1.5)} fill="var(--soon)" />
        <path d={draw((ms) => ms >= longMs, tick - 0.5)} fill="var(--stopped)" />
      </svg>
      {out.length > 0 && (
        <p className="quiet">
          Out on {out.length} {out.length === 1 ? "day" : "days"}, {length} in all
        </p>
      )}
    </div>
  );
}

const longMs = 30 * 60_000; // half an hour

function inAWord(parts: readonly Part[]): string {
  const [first, ...others] = parts.filter(({ colour }) => colour !== "good");
  if (!first) return "All systems work";
  if (others.length > 0) return "Some parts have problems";
  return `${first.name}: ${first.says.charAt(0).toLowerCase()}${first.says.slice(1)}`;
}
