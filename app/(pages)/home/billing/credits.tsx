import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { readCreditDays } from "@/lib/accounts/credits/credit-days";
import { creditUse } from "@/lib/accounts/credits/credit-use";
import { type LedgerPosition, selectLedger, spendable } from "@/lib/accounts/credits/ledger";
import { readNextCredits } from "@/lib/accounts/credits/plan-credits";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import { Clock } from "../../clock";
import { readPart } from "../../read-part";
import { CreditEntries } from "./credit-entries";
import { CreditsByDay, drawnDays } from "./credits-by-day";
import { formatCredits } from "./format-credits";

const listed = { latest: 10, older: 40 };

type CreditsProps = BalanceProps & {
  read: Awaited<ReturnType<typeof readCredits>>;
  /** How to get more. */
  children: ReactNode;
};

/** What the section of credits shows, after the entry `before` or from the latest; `undefined` if it cannot be read. */
export function readCredits(accountId: string, before: string | undefined, nowMs: number) {
  const after = parseEntry(before);
  return readPart("credit entries could not be listed", async (db) => {
    const limit = after ? listed.older : listed.latest;
    const entries = await selectLedger(db, accountId, "<", after)
      .limit(limit + 1)
      .execute();
    const page = entries.slice(0, limit);
    const oldest = entries.length > page.length ? page.at(-1) : undefined;
    const today = Math.floor(nowMs / dayMs);
    const byDay = { ...(await readCreditDays(db, accountId, today - drawnDays + 1)), today };
    const next = await readNextCredits(db, accountId, nowMs);
    return { byDay, page, hasNewer: after !== undefined, oldest, next };
  });
}

/** The credit balance, what each day used, and the entries with their reasons, page by page. */
export function Credits({ account, mayRun, isUnsold, read, children }: CreditsProps) {
  const hasUsed = read !== undefined && read.page.length > 0;
  return (
    <section className="card credits" aria-labelledby="credits">
      <div className="credit-parts">
        <div>
          <Balance {...{ account, mayRun, isUnsold }} />
          {read?.next && (
            <p>
              Your plan gives {read.next.credits.toLocaleString("en")} more on{" "}
              <Clock atMs={read.next.atMs} shows="date" />.
            </p>
          )}
          {hasUsed && children}
        </div>
        {hasUsed ? <CreditsByDay {...read.byDay} /> : <div>{children}</div>}
      </div>
      {hasUsed && (
        <>
          <CreditEntries entries={read.page} zone={account.time_zone} />
          {read.oldest && (
            <p className="quiet">
              {!read.hasNewer && "The latest "}
              {read.page.length} entries; there are older ones.
            </p>
          )}
          <EntryLinks hasNewer={read.hasNewer} oldest={read.oldest} />
        </>
      )}
      {read?.page.length === 0 && (
        <p className="quiet">No history yet: each job that uses credits is listed here with what it used.</p>
      )}
      {!read && <p className="quiet">We cannot show the entries at the moment.</p>}
    </section>
  );
}

type BalanceProps = {
  account: Account;
  mayRun: boolean;
  /** Whether no plan is sold here. */
  isUnsold: boolean;
  /** Says what credits are only where some are to be had, or none are left. */
  isShort?: true;
};

/** The balance, what a credit is, and what happens without any. */
export function Balance({ account, mayRun, isUnsold, isShort }: BalanceProps) {
  const credits = spendable(account);
  const saysMore = !isShort || credits === 0;
  return (
    <>
      <h2 id="credits">{credits === 0 ? "Credits: 0" : "Credits"}</h2>
      {credits !== 0 && <p className="total">{formatCredits(credits)}</p>}
      {saysMore && (
        <p className="quiet">
          {creditUse()}{" "}
          {credits === 0
            ? "Without any, a job that costs credits is refused"
            : "A job that costs more than you have is refused"}
          {mayRun ? "; everything else runs." : "."}
          {credits === 0 && account.plan !== "licensed" && ` ${howToGetCredits(isUnsold)}`}
        </p>
      )}
    </>
  );
}

const howToGetCredits = (isUnsold: boolean) =>
  !isUnsold && (settings().billing?.creditPrices ?? []).length > 0
    ? "With a paid plan you can buy some."
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
