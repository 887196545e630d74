import type { Account } from "@/lib/accounts/account";
import { type CreditEntry, listLatestEntries, toCredits } from "@/lib/accounts/ledger";
import { dayMs } from "@/lib/config/durations";
import { store } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";
import { Clock } from "../clock";

const drawnDays = 30;
const maxDrawn = 500; // entries: a line 300 points wide cannot show more
const listed = 5;

type CreditsProps = { account: Account; nowMs: number };

/** The credit balance, its history as a line, and the last entries with their reasons. */
export async function Credits({ account, nowMs }: CreditsProps) {
  const entries = await readEntries(account.id);
  return (
    <section className="card credits" aria-labelledby="credits">
      <dl>
        <dt id="credits">Credits</dt>
        <dd>{inWords(account.creditThousandths)}</dd>
      </dl>
      {entries && entries.length > 0 && (
        <>
          <StepLine entries={entries} balance={account.creditThousandths} nowMs={nowMs} />
          <ol className="entries">
            {entries.slice(0, listed).map((entry) => (
              <li key={entry.id}>
                <span>{entry.reason}</span>
                <Clock atMs={entry.atMs} shows="day and time" />
                <b>
                  {entry.thousandths > 0 && "+"}
                  {inWords(entry.thousandths)}
                </b>
              </li>
            ))}
          </ol>
        </>
      )}
      {entries?.length === 0 && <p className="quiet">No entries yet.</p>}
      {!entries && <p className="quiet">We cannot show the entries at the moment.</p>}
    </section>
  );
}

/** Returns `undefined` if the entries cannot be read: the rest of the page does not need them. */
async function readEntries(accountId: string): Promise<CreditEntry[] | undefined> {
  try {
    return await listLatestEntries(await store(), accountId, maxDrawn);
  } catch (failure) {
    log().error({ err: failure }, "credit entries could not be listed");
    return undefined;
  }
}

const inWords = (thousandths: number) => toCredits(thousandths).toLocaleString("en").replace("-", "−");

type StepLineProps = { entries: readonly CreditEntry[]; balance: number; nowMs: number };

const [wide, high] = [300, 64];

/** The balance of the last 30 days as a step line: it is constant between two entries. */
function StepLine({ entries, balance, nowMs }: StepLineProps) {
  const oldestMs = entries.at(-1)?.atMs ?? nowMs;
  const sinceMs = Math.min(nowMs - 1, Math.max(nowMs - drawnDays * dayMs, oldestMs));
  const steps = stepsBack(entries, balance, sinceMs);
  const most = Math.max(1, ...steps.map(({ balance }) => balance));
  const x = (atMs: number) => Math.round(((Math.min(atMs, nowMs) - sinceMs) / (nowMs - sinceMs)) * wide);
  const y = (value: number) => Math.round(high - 3 - (value / most) * (high - 8));
  const drawn = steps.map(({ balance, fromMs, toMs }, at) => {
    const begin = at === 0 ? `M${x(fromMs)} ${y(balance)}` : `V${y(balance)}`;
    return `${begin} H${x(toMs)}`;
  });
  const lowest = Math.min(...steps.map(({ balance }) => balance));
  const label = `The last ${drawnDays} days: between ${inWords(lowest)} and ${inWords(most)} credits.`;
  return (
    <svg
      className="step-line"
      viewBox={`0 0 ${wide} ${high}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className="area" d={`${drawn.join(" ")} V${high} H${x(steps[0]?.fromMs ?? sinceMs)} Z`} />
      <path d={drawn.join(" ")} />
    </svg>
  );
}

type Step = { balance: number; fromMs: number; toMs: number };

/** The balance steps since `sinceMs` (Unix milliseconds) or the oldest known entry, oldest first. */
function stepsBack(entries: readonly CreditEntry[], balance: number, sinceMs: number): Step[] {
  const steps: Step[] = [];
  let [after, toMs] = [balance, Number.MAX_SAFE_INTEGER];
  for (const { atMs, thousandths } of entries) {
    const fromMs = Math.max(atMs, sinceMs);
    steps.unshift({ balance: after, fromMs, toMs });
    if (atMs <= sinceMs) return steps;
    [after, toMs] = [after - thousandths, atMs];
  }
  return steps;
}
