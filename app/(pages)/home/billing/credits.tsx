import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { readCreditDays } from "@/lib/accounts/credits/credit-days";
import { creditUse } from "@/lib/accounts/credits/credit-use";
import { openHolds } from "@/lib/accounts/credits/holds";
import { spendable } from "@/lib/accounts/credits/ledger";
import { readNextCredits } from "@/lib/accounts/credits/plan-credits";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { Clock } from "../../clock";
import { readPart } from "../../read-part";
import { History, isEmpty, readHistory } from "./credit-history";
import { CreditsByDay, drawnDays } from "./credits-by-day";
import { formatCredits } from "./format-credits";
import { Holds, shownHolds } from "./holds";

type CreditsProps = BalanceProps & {
  read: Awaited<ReturnType<typeof readCredits>>;
  /** How to get more. */
  children: ReactNode;
};

/** What the section of credits shows, of the entries those that the address asks for; `undefined` if it cannot be read. */
export function readCredits(accountId: string, query: Record<string, string>, nowMs: number) {
  return readPart("credit entries could not be listed", async (db) => {
    const today = Math.floor(nowMs / dayMs);
    return {
      history: await readHistory(db, accountId, query),
      byDay: { ...(await readCreditDays(db, accountId, today - drawnDays + 1)), today },
      held: await openHolds(db, accountId, nowMs)
        .limit(shownHolds + 1)
        .execute(),
      next: await readNextCredits(db, accountId, nowMs),
    };
  });
}

/** The credit balance, what each day used, what is held, and the entries with their reasons, page by page. */
export function Credits({ account, mayRun, isUnsold, read, children }: CreditsProps) {
  const hasUsed = read !== undefined && !isEmpty(read.history);
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
      {read && <Holds read={read.held} />}
      {hasUsed && <History read={read.history} zone={account.time_zone} />}
      {read && !hasUsed && <p className="quiet">No history yet.</p>}
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
