import type { Command } from "commander";
import { readOverview } from "@/lib/accounts/overview";
import { type Run, withExamples } from "@/lib/admin/command";
import { asLines, asTable } from "@/lib/admin/print";
import { asInstant, asIso } from "@/lib/config/instants";

/** `overview`. */
export function addOverviewCommand(program: Command, run: Run): void {
  withExamples(program.command("overview"), "overview")
    .description("the accounts by plan, the trials that end this week, the waitlist and the mails")
    .action(
      run(async (db) => {
        const nowMs = Date.now();
        const json = await readOverview(db, nowMs);
        const { accounts, trialsEnding, days: _, oldestWaitingAtMs, ...counts } = json;
        const rows = trialsEnding.map(({ email, endsAt }) => ({ email, endsAt: asInstant(endsAt, nowMs) }));
        const trials = asTable(rows, "No trial ends within 7 days.");
        const waitingSince = asInstant(asIso(oldestWaitingAtMs), nowMs);
        const lines = asLines({ ...accounts, ...counts, waitingSince });
        return { json, text: `${lines}\n\n${trials}` };
      }),
    );
}
