import { maxAddedUp } from "@/lib/accounts/credits/credit-days";
import {
  type CreditEntry,
  describeReason,
  type LedgerPosition,
  selectLedger,
} from "@/lib/accounts/credits/ledger";
import { dayMs } from "@/lib/config/durations";
import { aheadOfUtc } from "@/lib/config/time-zone";
import type { Db } from "@/lib/db/store";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { formatInstant } from "../../instant";
import { decimalsIn, formatCredits } from "./format-credits";

const listed = { latest: 10, older: 40 };

/** Which entries are shown, by their names in the address. */
const filters = {
  all: { name: "All", has: () => true },
  used: { name: "Used", has: ({ thousandths }: CreditEntry) => thousandths < 0 },
  added: { name: "Added", has: ({ thousandths }: CreditEntry) => thousandths > 0 },
};

type Filter = keyof typeof filters;

export type CreditHistory = Awaited<ReturnType<typeof readHistory>>;

/**
 * Reads the entries that the address asks for: the latest, or those after the entry `before`. A filter looks at so many entries
 * at most as are added up for a page; `oldest` is where it goes on.
 */
export async function readHistory(db: Db, accountId: string, { before, show }: Record<string, string>) {
  const after = parsePosition(before);
  const shows: Filter = show === "used" || show === "added" ? show : "all";
  const limit = after ? listed.older : listed.latest;
  const looksAt = shows === "all" ? limit + 1 : maxAddedUp;
  const entries = await selectLedger(db, accountId, "<", after).limit(looksAt).execute();
  const found = entries.filter(filters[shows].has);
  const page = found.slice(0, limit);
  const oldest =
    found.length > limit ? page.at(-1) : entries.length === maxAddedUp ? entries.at(-1) : undefined;
  return { shows, page, hasNewer: after !== undefined, oldest };
}

/** Whether there is no entry at all. */
export const isEmpty = ({ shows, page, hasNewer }: CreditHistory) =>
  page.length === 0 && shows === "all" && !hasNewer;

function parsePosition(text = ""): LedgerPosition | undefined {
  const [, created_at_ms, place, id] = /^(\d{1,15})\.(\d{1,9})\.([\w-]{1,64})$/.exec(text) ?? [];
  if (!created_at_ms || !place || !id) return undefined;
  return { created_at_ms: Number(created_at_ms), place: Number(place), id };
}

type HistoryProps = { read: CreditHistory; zone: string | null };

/** Entries by their days in the owner's zone, or in UTC, the latest first. Those of a day that are alike are one line, which opens. */
export function History({ read: { shows, page, hasNewer, oldest }, zone }: HistoryProps) {
  const dayOf = ({ created_at_ms }: CreditEntry) =>
    Math.floor((created_at_ms + (aheadOfUtc(zone, created_at_ms) ?? 0)) / dayMs);
  const decimals = decimalsIn(page.map(({ thousandths }) => thousandths));
  return (
    <div className="history" id="history">
      <h3>History</h3>
      <nav className="parts" aria-label="Which entries">
        {Object.entries(filters).map(([filter, { name }]) => (
          <a key={filter} href={addressOf(filter)} aria-current={filter === shows ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {page.length === 0 && <p className="quiet">None{oldest && " of the latest entries"}.</p>}
      {[...Map.groupBy(page, dayOf)].map(([day, ofDay]) => (
        <div key={day}>
          <h4>
            {formatInstant(day * dayMs, "date", "UTC")}
            {zone === null && " UTC"}
          </h4>
          <ol className="entries">
            {[...Map.groupBy(ofDay, kindOf).values()].map((alike) => (
              <Alike key={alike[0]?.id} entries={alike} decimals={decimals} />
            ))}
          </ol>
        </div>
      ))}
      {(hasNewer || oldest) && (
        <p className="entry-links">
          {hasNewer && <a href={addressOf(shows)}>Latest entries</a>}
          {oldest && <a href={addressOf(shows, oldest)}>Older entries</a>}
        </p>
      )}
    </div>
  );
}

function addressOf(filter: string, before?: LedgerPosition): string {
  const query = new URLSearchParams();
  if (filter !== "all") query.set("show", filter);
  if (before) query.set("before", `${before.created_at_ms}.${before.place}.${before.id}`);
  return `${pages.billing.path}${query.size > 0 ? `?${query}` : ""}#history`;
}

/** Entries are alike if they have one reason and one backend, and all add or all take. */
const kindOf = (entry: CreditEntry) =>
  `${Math.sign(entry.thousandths)} ${entry.backend_id} ${describeReason(entry)}`;

type AlikeProps = { entries: CreditEntry[]; decimals: number };

function Alike({ entries, decimals }: AlikeProps) {
  const [entry] = entries;
  if (!entry) return null;
  const by = entry.backend_id !== null && ` · ${entry.backend_id}`;
  if (entries.length === 1)
    return (
      <li>
        <span>{describeReason(entry)}</span>
        <Amount thousandths={entry.thousandths} decimals={decimals} />
        <small>
          <Clock atMs={entry.created_at_ms} shows="time" />
          {by}
        </small>
      </li>
    );
  return (
    <li data-key={entry.id}>
      <details>
        <summary>
          <span>{describeReason(entry)}</span>
          <Amount
            thousandths={entries.reduce((sum, { thousandths }) => sum + thousandths, 0)}
            decimals={decimals}
          />
          <small>
            {`${entries.length} times`}
            {by}
          </small>
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
