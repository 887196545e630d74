import type { Account } from "@/lib/accounts/account";
import { type CreditEntry, selectLedger, toCredits } from "@/lib/accounts/ledger";
import { dayMs } from "@/lib/config/durations";
import { pages } from "@/lib/http/pages";
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
export function readCredits(accountId: string, before: string | undefined) {
  const after = parseEntry(before);
  return readPart("credit entries could not be listed", async (db) => {
    const entries = await selectLedger(db, accountId, "<").limit(maxDrawn).execute();
    const older = after
      ? await selectLedger(db, accountId, "<", after)
          .limit(listed.older + 1)
          .execute()
      : entries;
    const page = older.slice(0, after ? listed.older : listed.latest);
    const oldest = older.length > page.length ? page.at(-1) : undefined;
    return { entries, page, hasNewer: after !== undefined, oldest };
  });
}

/** The credit balance, its history as a line, and the entries with their reasons, page by page. */
export function Credits({ account, read, nowMs }: CreditsProps) {
  return (
    <section className="card credits" aria-labelledby="credits">
      <Balance account={account} />
      {read && read.entries.length > 0 && (
        <>
          <StepLine entries={read.entries} balance={account.credit_thousandths} nowMs={nowMs} />
          <ol className="entries">
            {read.page.map((entry) => (
              <li key={entry.id}>
                <span>{entry.reason}</span>
                <Clock atMs={entry.atMs} shows="day and time" />
                <b>
                  {entry.thousandths > 0 && "+"}
                  {formatCredits(entry.thousandths)}
                </b>
              </li>
            ))}
          </ol>
          <EntryLinks hasNewer={read.hasNewer} oldest={read.oldest} />
        </>
      )}
      {read?.entries.length === 0 && <p className="quiet">No entries yet.</p>}
      {!read && <p className="quiet">We cannot show the entries at the moment.</p>}
    </section>
  );
}

/** The balance, what a credit is, and what happens without any. */
export function Balance({ account: { credit_thousandths } }: { account: Account }) {
  return (
    <>
      <dl className="total">
        <dt id="credits">Credits</dt>
        <dd>{formatCredits(credit_thousandths)}</dd>
      </dl>
      <p className="quiet">
        {credit_thousandths > 0
          ? "Credits measure the work of your assistants. At 0, apps that use them wait for more; whether your company may run does not depend on them."
          : "Apps that use credits wait until you have some. Whether your company may run does not depend on them."}
      </p>
    </>
  );
}

type Position = Pick<CreditEntry, "atMs" | "id">;

function parseEntry(text = ""): Position | undefined {
  const [, atMs, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(text) ?? [];
  return atMs && id ? { atMs: Number(atMs), id } : undefined;
}

function EntryLinks({ hasNewer, oldest }: { hasNewer: boolean; oldest: Position | undefined }) {
  if (!hasNewer && !oldest) return null;
  const { path } = pages.billing;
  return (
    <p className="entry-links">
      {hasNewer && <a href={`${path}#credits`}>Latest entries</a>}
      {oldest && <a href={`${path}?before=${oldest.atMs}.${oldest.id}#credits`}>Older entries</a>}
    </p>
  );
}

const number = new Intl.NumberFormat("en");

const formatCredits = (thousandths: number) => number.format(toCredits(thousandths)).replace("-", "−");

type StepLineProps = { entries: readonly CreditEntry[]; balance: number; nowMs: number };

const [wide, high] = [300, 64];

/** The balance of the last 30 days, or since the oldest entry, as a step line: it is constant between two entries. */
function StepLine({ entries, balance, nowMs }: StepLineProps) {
  const oldestMs = entries.at(-1)?.atMs ?? nowMs;
  const sinceMs = Math.min(nowMs - 1, Math.max(nowMs - drawnDays * dayMs, oldestMs));
  const recent = entries.filter(({ atMs }) => atMs > sinceMs);
  const balances = [balance]; // newest first
  for (const { thousandths } of recent) balances.push((balances.at(-1) ?? 0) - thousandths);
  const [lowest, most] = [Math.min(...balances), Math.max(1, ...balances)];
  const y = (value: number) => Math.round(high - 3 - (value / most) * (high - 8));
  const x = (atMs: number) => Math.round(((Math.min(atMs, nowMs) - sinceMs) / (nowMs - sinceMs)) * wide);
  const steps = balances.map((value, at) => `V${y(value)} H${x(recent[at]?.atMs ?? sinceMs)}`).join(" ");
  const label = `The last ${drawnDays} days: between ${formatCredits(lowest)} and ${formatCredits(most)} credits.`;
  return (
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
  );
}
