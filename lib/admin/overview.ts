import { readOverview } from "@/lib/accounts/list/overview";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines, asTable } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";

/** `overview`. */
export function addOverviewCommand(program: AdminCommand): void {
  program
    .add("overview", "the accounts by plan, the trials that end this week, the waitlist and the mails")
    .does(async ({ db }) => {
      const json = await readOverview(db, Date.now());
      const { accounts, billing, customers, trialsEnding, days: _, oldestWaitingAtMs, ...counts } = json;
      const trials = asTable(trialsEnding, "No trial ends within 7 days.");
      const lines = asLines({
        ...accounts,
        ...billing,
        retiredPrices: billing.retiredPrices.map(({ id, count }) => `${id} (${count})`).join(", ") || null,
        ...customers,
        ...counts,
        waitingSince: asIso(oldestWaitingAtMs),
      });
      return { json, text: `${lines}\n\n${trials}` };
    });
}
