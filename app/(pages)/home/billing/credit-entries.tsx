import { type CreditEntry, describeReason } from "@/lib/accounts/credits/ledger";
import { dayMs } from "@/lib/config/durations";
import { aheadOfUtc } from "@/lib/config/time-zone";
import { Clock } from "../../clock";
import { formatInstant } from "../../instant";
import { decimalsIn, formatCredits } from "./format-credits";

type CreditEntriesProps = { entries: readonly CreditEntry[]; zone: string | null };

/** Entries by their days in the owner's zone, or in UTC, the latest first. Those of a day that are alike are one line, which opens. */
export function CreditEntries({ entries, zone }: CreditEntriesProps) {
  const dayOf = ({ created_at_ms }: CreditEntry) =>
    Math.floor((created_at_ms + (aheadOfUtc(zone, created_at_ms) ?? 0)) / dayMs);
  const decimals = decimalsIn(entries.map(({ thousandths }) => thousandths));
  const days = Map.groupBy(entries, dayOf);
  return [...days].map(([day, ofDay]) => (
    <div key={day} className="history">
      <h3>
        {formatInstant(day * dayMs, "date", "UTC")}
        {zone === null && " UTC"}
      </h3>
      <ol className="entries">
        {[...Map.groupBy(ofDay, kindOf).values()].map((alike) => (
          <Alike key={alike[0]?.id} entries={alike} decimals={decimals} />
        ))}
      </ol>
    </div>
  ));
}

/** Entries are alike if they have one reason, and all add or all take. */
const kindOf = (entry: CreditEntry) => `${Math.sign(entry.thousandths)} ${describeReason(entry)}`;

type AlikeProps = { entries: CreditEntry[]; decimals: number };

function Alike({ entries, decimals }: AlikeProps) {
  const [entry] = entries;
  if (!entry) return null;
  if (entries.length === 1)
    return (
      <li>
        <span>{describeReason(entry)}</span>
        <Clock atMs={entry.created_at_ms} shows="time" />
        <Amount thousandths={entry.thousandths} decimals={decimals} />
      </li>
    );
  return (
    <li data-key={entry.id}>
      <details>
        <summary>
          <span>{describeReason(entry)}</span>
          <small>{`${entries.length} times`}</small>
          <Amount
            thousandths={entries.reduce((sum, { thousandths }) => sum + thousandths, 0)}
            decimals={decimals}
          />
        </summary>
        <ol>
          {entries.map(({ id, created_at_ms, thousandths }) => (
            <li key={id}>
              <Clock atMs={created_at_ms} shows="time" />
              <Amount thousandths={thousandths} decimals={decimals} />
            </li>
          ))}
        </ol>
      </details>
    </li>
  );
}

type AmountProps = { thousandths: number; decimals: number };

/** With as many decimals as the others, so that their points stand below each other. */
function Amount({ thousandths, decimals }: AmountProps) {
  return (
    <b>
      {thousandths > 0 && "+"}
      {formatCredits(thousandths, decimals)}
    </b>
  );
}
