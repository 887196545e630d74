import type { Account } from "@/lib/accounts/account";
import {
  type CreditEntry,
  describeReason,
  type LedgerPosition,
  selectLedger,
  spendable,
  toCredits,
} from "@/lib/accounts/ledger";
import { readNextCredits } from "@/lib/accounts/plan-credits";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { readPart } from "../../read-part";

const drawnDays = 30;
const maxDrawn = 500; // entries: a line 300 points wide cannot show more
const listed = { latest: 5, older: 20 };

type CreditsProps = {
  account: Account;
  read: Awaited<ReturnType<typeof readCredits>>;
  nowMs: number;
};

/** What the section of credits shows, after the entry `before` or from the latest; `undefined` if it cannot be read. */
export function readCredits(accountId: string, before: string | undefined, nowMs: number) {
  const after = parseEntry(before);
  return readPart("credit entries could not be listed", async (db) => {
    const entries = await selectLedger(db, accountId, "<")
      .limit(maxDrawn + 1)
      .execute();
    const older = after
      ? await selectLedger(db, accountId, "<", after)
          .limit(listed.older + 1)
          .execute()
      : entries;
    const page = older.slice(0, after ? listed.older : listed.latest);
    const oldest = older.length > page.length ? page.at(-1) : undefined;
    const next = await readNextCredits(db, accountId, nowMs);
    return { entries, page, hasNewer: after !== undefined, oldest, next };
  });
}

/** The credit balance, its history as a line, and the entries with their reasons, page by page. */
export function Credits({ account, read, nowMs }: CreditsProps) {
  return (
    <section className="card credits" aria-labelledby="credits">
      <Balance account={account} />
      {read?.next && (
        <p>
          Your plan gives {read.next.credits.toLocaleString("en")} more on{" "}
          <Clock atMs={read.next.atMs} shows="date" />.
        </p>
      )}
      {read && read.entries.length > 0 && (
        <>
          <StepLine entries={read.entries} balance={account.credit_thousandths} nowMs={nowMs} />
          <ol className="entries">
            {read.page.map((entry) => (
              <li key={entry.id}>
                <span>{describeReason(entry)}</span>
                <Clock atMs={entry.created_at_ms} shows="day and time" />
                <b>
                  {entry.thousandths > 0 && "+"}
                  {formatCredits(entry.thousandths)}
                </b>
              </li>
            ))}
          </ol>
          {read.oldest && (
            <p className="quiet">
              {!read.hasNewer && "The latest "}
              {read.page.length} entries; there are older ones.
            </p>
          )}
          <EntryLinks hasNewer={read.hasNewer} oldest={read.oldest} />
        </>
      )}
      {read?.entries.length === 0 && <p className="quiet">No entries yet.</p>}
      {!read && <p className="quiet">We cannot show the entries at the moment.</p>}
    </section>
  );
}

/** The balance, what a credit is, and what happens without any. */
export function Balance({ account }: { account: Account }) {
  const credits = spendable(account);
  return (
    <>
      <dl className="total">
        <dt id="credits">Credits</dt>
        <dd>{formatCredits(credits)}</dd>
      </dl>
      <p className="quiet">
        Credits pay for what your assistants use.{" "}
        {credits > 0 ? "What costs more than is left" : "Without any, what costs some"} is refused until you
        have more. Your company keeps running either way.
        {credits <= 0 && account.plan !== "licensed" && ` ${howToGetCredits()}`}
      </p>
    </>
  );
}

const howToGetCredits = () =>
  (settings().billing?.creditPrices ?? []).length > 0
    ? "With a licence you can buy some."
    : `To get some, ${askUs()}.`;

function parseEntry(text = ""): LedgerPosition | undefined {
  const [, created_at_ms, place, id] = /^(\d{1,15})\.(\d{1,9})\.([\w-]{1,64})$/.exec(text) ?? [];
  if (!created_at_ms || !place || !id) return undefined;
  return { created_at_ms: Number(created_at_ms), place: Number(place), id };
}

function EntryLinks({ hasNewer, oldest }: { hasNewer: boolean; oldest: LedgerPosition | undefined }) {
  if (!hasNewer && !oldest) return null;
  const { path } = pages.billing;
  return (
    <p className="entry-links">
      {hasNewer && <a href={`${path}#credits`}>Latest entries</a>}
      {oldest && (
        <a href={`${path}?before=${oldest.created_at_ms}.${oldest.place}.${oldest.id}#credits`}>
          Older entries
        </a>
      )}
    </p>
  );
}

const number = new Intl.NumberFormat("en");

export const formatCredits = (thousandths: number) => number.format(toCredits(thousandths)).replace("-", "−");

type StepLineProps = { entries: readonly CreditEntry[]; balance: number; nowMs: number };

const [wide, high] = [300, 64];

/**
 * The balance of the last 30 days, or since the oldest entry that is drawn, as a step line: it is constant between two
 * entries.
 */
function StepLine({ entries, balance, nowMs }: StepLineProps) {
  const drawn = entries.slice(0, maxDrawn);
  const oldestMs = drawn.at(-1)?.created_at_ms ?? nowMs;
  const monthMs = nowMs - drawnDays * dayMs;
  const isCut = entries.length > drawn.length && oldestMs > monthMs;
  const sinceMs = Math.min(nowMs - 1, Math.max(monthMs, oldestMs));
  const recent = drawn.filter(({ created_at_ms }) => created_at_ms > sinceMs);
  const balances = [balance]; // newest first
  for (const { thousandths } of recent) balances.push((balances.at(-1) ?? 0) - thousandths);
  const [lowest, highest] = [Math.min(...balances), Math.max(...balances)];
  const y = (value: number) => Math.round(high - 3 - (value / Math.max(1, highest)) * (high - 8));
  const x = (atMs: number) => Math.round(((Math.min(atMs, nowMs) - sinceMs) / (nowMs - sinceMs)) * wide);
  const steps = balances
    .map((value, at) => `V${y(value)} H${x(recent[at]?.created_at_ms ?? sinceMs)}`)
    .join(" ");
  const period = isCut ? `The latest ${maxDrawn} entries` : `The last ${drawnDays} days`;
  const label = `${period}: between ${formatCredits(lowest)} and ${formatCredits(highest)} credits.`;
  return (
    <>
      <svg
        className="step-line"
        viewBox={`0 0 ${wide} ${high}`}
        preserveAspectRatio="none"
        width="100%"
        height="4rem"
        role="img"
        aria-label={label}
      >
        <path fill="var(--good-tint)" d={`M${wide} ${high} ${steps} V${high} Z`} />
        <path
          fill="none"
          stroke="var(--accent)"
          strokeWidth="2"
          vectorEffect="non-scaling-stroke"
          d={`M${wide} ${y(balance)} ${steps}`}
        />
      </svg>
      <p className="axis" aria-hidden="true">
        <Clock atMs={sinceMs} shows="date" />
        <span>
          {formatCredits(lowest)} to {formatCredits(highest)}
        </span>
        <span>today</span>
      </p>
      {isCut && <p className="quiet">The line shows the latest {maxDrawn} entries.</p>}
    </>
  );
}
