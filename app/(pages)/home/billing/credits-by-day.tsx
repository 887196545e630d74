import { type CreditDays, maxAddedUp } from "@/lib/accounts/credits/credit-days";
import { dayMs } from "@/lib/config/durations";
import { formatInstant } from "../../instant";
import { formatCredits } from "./format-credits";

export const drawnDays = 30;

type CreditsByDayProps = CreditDays & { today: number };

/** What each of the last thirty days used, as bars beside a scale, and as a table for those who do not see them. */
export function CreditsByDay({ days, job, isCut, today }: CreditsByDayProps) {
  const total = days.reduce((sum, { used }) => sum + used, 0);
  const most = days.toSorted((one, other) => other.used - one.used)[0];
  if (!most || total === 0) return <p className="quiet">Nothing was used in the last {drawnDays} days.</p>;
  const used = days.filter((day) => day.used > 0);
  const first = today - drawnDays + 1;
  const top = roundUp(most.used);
  return (
    <figure className="by-day">
      <figcaption>
        <strong>{`${isCut ? "At least " : ""}${formatCredits(total)} used in the last ${drawnDays} days`}</strong>
        {job && <p className="quiet">{`A job took ${rangeOf(job)} credits.`}</p>}
      </figcaption>
      <div>
        <p className="scale" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{formatCredits(value)}</span>
          ))}
        </p>
        <svg viewBox={`0 0 ${drawnDays} 100`} preserveAspectRatio="none" aria-hidden="true">
          <path d={`M0 0H${drawnDays}M0 50H${drawnDays}M0 100H${drawnDays}`} />
          {used.map(({ day, used }) => {
            const height = Math.max(1.5, (used / top) * 100);
            return (
              <rect key={day} x={day - first + 0.14} y={100 - height} width="0.72" height={height}>
                <title>{`${dayOf(day)}: ${formatCredits(used)}`}</title>
              </rect>
            );
          })}
        </svg>
        <p className="axis" aria-hidden="true">
          <span>{dayOf(first)}</span>
          <span>{dayOf(first + drawnDays / 2)}</span>
          <span>today</span>
        </p>
      </div>
      <div className="unseen">
        <table>
          <caption>Credits by day, in UTC</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Used</th>
              <th scope="col">Got</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ day, used, got }) => (
              <tr key={day}>
                <th scope="row">{dayOf(day)}</th>
                <td>{formatCredits(used)}</td>
                <td>{formatCredits(got)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isCut && <p className="quiet">{`Of the latest ${formatCredits(maxAddedUp * 1000)} entries.`}</p>}
    </figure>
  );
}

/** For example `0.5 to 11.5`. */
const rangeOf = ({ least, most }: NonNullable<CreditDays["job"]>) =>
  [...new Set([formatCredits(least), formatCredits(most)])].join(" to ");

/** For example `28 November`. */
const dayOf = (day: number) => formatInstant(day * dayMs, "date", "UTC").replace(/ \d+$/, "");

/** The next of 1, 2, 4 and 10 times a power of ten, so that its half is short as well. */
function roundUp(thousandths: number): number {
  const power = 10 ** Math.floor(Math.log10(thousandths));
  return power * ([1, 2, 4].find((times) => times * power >= thousandths) ?? 10);
}
