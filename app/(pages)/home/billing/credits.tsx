import type { ReactNode } from "react";
import type { Account } from "@/lib/accounts/account";
import { readCreditDays } from "@/lib/accounts/credits/credit-days";
import { creditUse } from "@/lib/accounts/credits/credit-use";
import { openHolds } from "@/lib/accounts/credits/holds";
import { spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { readNextCredits } from "@/lib/accounts/credits/plan-credits";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { Plan } from "@/lib/plans/plan";
import { Clock } from "../../clock";
import { readPart } from "../../read-part";
import { History, isEmpty, readHistory } from "./credit-history";
import { CreditsByDay, drawnDays } from "./credits-by-day";
import { formatCredits } from "./format-credits";
import { Holds, shownHolds } from "./holds";
import { sellsCreditsTo } from "./offers";

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
export function Credits({ read, children, ...own }: CreditsProps) {
  const hasUsed = read !== undefined && !isEmpty(read.history);
  return (
    <section className="card credits" aria-labelledby="credits">
      <div className="credit-parts">
        <div>
          <Balance {...own} />
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
      {hasUsed && <History read={read.history} zone={own.account.time_zone} />}
      {!read && <p className="quiet">We cannot show the entries at the moment.</p>}
    </section>
  );
}

type BalanceProps = {
  account: Account;
  plan: Plan | undefined;
  mayRun: boolean;
  /** Whether no plan is sold here. */
  isUnsold: boolean;
};

/** The balance, what a credit is, and, without any, what happens then and how to get some. */
export function Balance({ account, plan, mayRun, isUnsold }: BalanceProps) {
  const credits = spendable(account);
  return (
    <>
      <h2 id="credits">{credits === 0 ? "Credits: 0" : "Credits"}</h2>
      {credits !== 0 && <p className="total">{formatCredits(credits)}</p>}
      <p className="quiet">
        {creditUse()}
        {credits === 0 && (
          <>
            {" "}
            {mayRun
              ? "Without any, only jobs that cost credits are refused."
              : "Without any, a job that costs credits is refused."}{" "}
            {howToGetCredits(account, plan, isUnsold)}
          </>
        )}
      </p>
    </>
  );
}

/** How an account without any credit comes to some. */
function howToGetCredits(account: Account, plan: Plan | undefined, isUnsold: boolean): string {
  const monthly = account.plan === "licensed" ? toCredits(plan?.credit_thousandths ?? 0) : 0;
  if (monthly > 0) return `Your plan adds ${monthly.toLocaleString("en")} each month.`;
  if (sellsCreditsTo(account)) return "Your plan includes none: buy some when a job needs them.";
  const isSold =
    !isUnsold && account.plan !== "licensed" && (settings().billing?.creditPrices ?? []).length > 0;
  return isSold ? "With a paid plan you can buy some." : `To get some, ${askUs()}.`;
}
