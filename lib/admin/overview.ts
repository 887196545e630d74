import { readOverview } from "@/lib/accounts/list/overview";
import { shellAct } from "@/lib/admin/act";
import { asLines, asTable } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";

export const overviewAct = shellAct({
  usage: "overview",
  words: "the accounts by plan, the trials that end this week, the waitlist and the mails",
  async run({ db, nowMs }) {
    const json = await readOverview(db, nowMs);
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
  },
});
