import type { Command } from "commander";
import { readOverview } from "@/lib/accounts/overview";
import { type Run, withExamples } from "@/lib/admin/command";
import { asLines, asTable } from "@/lib/admin/print";
import { asIso } from "@/lib/config/instants";

/** `overview`. */
export function addOverviewCommand(program: Command, run: Run): void {
  withExamples(program.command("overview"), "overview")
    .description("the accounts by plan, the trials that end this week, the waitlist and the mails")
    .action(
      run(async (db) => {
        const json = await readOverview(db, Date.now());
        const { accounts, billing, trialsEnding, days: _, oldestWaitingAtMs, ...counts } = json;
        const trials = asTable(trialsEnding, "No trial ends within 7 days.");
        const lines = asLines({ ...accounts, ...billing, ...counts, waitingSince: asIso(oldestWaitingAtMs) });
        return { json, text: `${lines}\n\n${trials}` };
      }),
    );
}
