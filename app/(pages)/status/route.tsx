import { dayMs } from "@/lib/config/durations";
import { handlePage } from "@/lib/http/page";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { readSiteBanner } from "@/lib/site-banner";
import { describeLength, maxListed, type Outage, outageDays, sumByDay } from "@/lib/status/outages";
import { clock, type Part, readStatus } from "@/lib/status/parts";
import { Clock } from "../clock";
import { wide } from "../html-page";
import { PartList, Shape } from "../status-light";

/** The current state of this service, and its outages of the last 90 days. */
export const { GET } = handlePage(pages.status, wide, async ({ nowMs }) => {
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
        <Headline parts={parts} />
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
          {outages &&
            (({ name, colour }) => (
              <Days days={sumByDay(outages, name, nowMs)} colour={colour === "unknown" ? "line" : "good"} />
            ))}
        </PartList>
        {outages && (
          <>
            <p className="days-axis quiet">
              <span>{outageDays} days ago</span>
              <span>Today</span>
            </p>
            <p className="days-axis quiet">
              A taller bar is a day with an outage, a red one a day with 30 minutes of them or more.
            </p>
          </>
        )}
        <h2>Outages in the last {outageDays} days</h2>
        <History outages={outages?.slice(0, maxListed)} nowMs={nowMs} />
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
});

/** The outages of each part, or why there are none to show. */
function History({ outages, nowMs }: { outages: Outage[] | undefined; nowMs: number }) {
  if (!outages) return <p>The store is unavailable, and the history with it.</p>;
  if (outages.length === 0) return <p>No outage was recorded.</p>;
  return (
    <>
      <ul className="outages">
        {outages.map(({ part, started_at_ms, ended_at_ms }) => (
          <li key={`${part} ${started_at_ms}`}>
            <b>{part}</b>
            <span>
              <Clock atMs={started_at_ms} shows="day and time" /> <End {...{ started_at_ms, ended_at_ms }} />
            </span>
            <span>
              {describeLength((ended_at_ms ?? nowMs) - started_at_ms)}
              {ended_at_ms === null && " so far"}
            </span>
          </li>
        ))}
      </ul>
      {outages.length === maxListed && <p className="quiet">At most {maxListed} are shown here.</p>}
    </>
  );
}

/** The end of an outage: one of less than half a day needs no day of its own, and one of less than a minute none at all. */
function End({ started_at_ms, ended_at_ms }: Omit<Outage, "part">) {
  if (ended_at_ms === null) return "until now";
  const ms = ended_at_ms - started_at_ms;
  if (ms < minuteMs) return null;
  return (
    <>
      to <Clock atMs={ended_at_ms} shows={ms < dayMs / 2 ? "time" : "day and time"} />
    </>
  );
}

const tick = 4;
const height = 24;
const low = 16;

type DaysProps = { days: readonly number[]; colour: "good" | "line" };

/** A tick for each day, today last: a low one without an outage, a full one with one, thicker where that was half an hour. */
function Days({ days, colour }: DaysProps) {
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
          stroke={`var(--${colour})`}
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

const minuteMs = 60_000;
const longMs = 30 * minuteMs;

/** The colour and the words of all parts together. What is not set up is no problem of theirs. */
function Headline({ parts }: { parts: readonly Part[] }) {
  const missing = parts.find(({ colour }) => colour === "unknown");
  const [first, ...others] = parts.filter(({ colour }) => colour === "soon" || colour === "stopped");
  if (!first)
    return (
      <h1>
        <Shape colour="good" />
        All systems work{missing && `, except ${missing.name.toLowerCase()}`}
      </h1>
    );
  return (
    <h1>
      <Shape colour={[first, ...others].some(({ colour }) => colour === "stopped") ? "stopped" : "soon"} />
      {others.length > 0
        ? "Some parts have problems"
        : `${first.name}: ${first.says.charAt(0).toLowerCase()}${first.says.slice(1).replace(/ since [\d:]+ UTC$/, "")}`}
    </h1>
  );
}
