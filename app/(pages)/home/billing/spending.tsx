import { type Spending as Read, readSpending, spendingBounds } from "@/lib/accounts/credits/spending";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { Clock } from "../../clock";
import { formatInstant } from "../../instant";
import { readPart } from "../../read-part";
import { decimalsIn, formatCredits } from "./format-credits";

/** What used an account's credits; `undefined` if it cannot be read. */
export const readSpendingOf = (accountId: string, nowMs: number) =>
  readPart("the spending could not be read", (db) => readSpending(db, accountId, nowMs));

/** Whether there is anything to say about spending: something can spend, or has spent. */
export const isSpent = (read: Read | undefined): boolean =>
  settings().backend !== undefined || (read?.groups.length ?? 0) > 0;

/** What used the credits, by day, backend and reason, and what is held of them; nothing until something has. */
export function Spending({ read }: { read: Read | undefined }) {
  if (read?.groups.length === 0 && read.holds.length === 0) return null;
  return (
    <section className="card credits" aria-labelledby="spending">
      <h2 id="spending">What used your credits</h2>
      {!read && <p className="quiet">We cannot show it at the moment.</p>}
      {read && <Groups {...read} />}
      {read && read.holds.length > 0 && <Holds {...read} />}
    </section>
  );
}

/** The latest day, and the earlier ones folded away. */
function Groups({ groups, hasMoreGroups, hasOlder }: Read) {
  const decimals = decimalsIn(groups.map(({ spent }) => spent));
  const [latest, ...earlier] = [...Map.groupBy(groups, ({ day }) => day)].map(([day, ofDay]) => (
    <div key={day}>
      <h3>{formatInstant(day * dayMs, "date", "UTC")} UTC</h3>
      <ol className="entries">
        {ofDay.map(({ backend_id, reason, count, spent }) => (
          <li key={`${backend_id} ${reason}`}>
            <span>{reason}</span>
            <b>{formatCredits(spent, decimals)}</b>
            <small className="quiet">
              {backend_id}
              {count > 1 && `, ${count} times`}
            </small>
          </li>
        ))}
      </ol>
    </div>
  ));
  return (
    <>
      {latest}
      {earlier.length > 0 && (
        <details>
          <summary>{`Show ${earlier.length} earlier ${earlier.length === 1 ? "day" : "days"}`}</summary>
          {earlier}
        </details>
      )}
      {hasMoreGroups && <p className="quiet">The latest {groups.length}; there are older ones.</p>}
      {hasOlder && (
        <p className="quiet">
          Of the latest {formatCredits(spendingBounds.spends * 1000)} times that credits were spent.
        </p>
      )}
    </>
  );
}

function Holds({ holds, hasMoreHolds }: Read) {
  const decimals = decimalsIn(holds.map(({ thousandths }) => thousandths));
  return (
    <>
      <h3>Held for work that goes on</h3>
      <ol className="entries">
        {holds.map(({ id, thousandths, backend_id, reason, expires_at_ms }) => (
          <li key={id}>
            <span>{reason}</span>
            <b>{formatCredits(thousandths, decimals)}</b>
            <small className="quiet">
              {backend_id}, until <Clock atMs={expires_at_ms} shows="day and time" /> at the latest
            </small>
          </li>
        ))}
      </ol>
      {hasMoreHolds && <p className="quiet">The first {holds.length} to expire; there are more.</p>}
    </>
  );
}
