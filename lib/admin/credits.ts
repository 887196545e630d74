import type { Command } from "commander";
import { addCredits, findAccount } from "@/lib/accounts/accounts";
import { listCreditEntries, toCredits } from "@/lib/accounts/ledger";
import { parseAmount, parseEmail, parseWords, type Run, withExamples } from "@/lib/admin/command";
import { asInstant } from "@/lib/config/instants";

/** `credits add|history`. */
export function addCreditCommands(program: Command, run: Run): void {
  const credits = program.command("credits").description("the balances and the ledger");

  withExamples(
    credits.command("add"),
    "credits add ceo@example.com 50 --reason 'a present'",
    "credits add ceo@example.com -2.5",
  )
    .description("add an amount to a balance; a negative amount reduces it")
    .argument("<email>", "", parseEmail)
    .argument("<amount>", "", parseAmount)
    .option("--reason <text>", "the reason, for the ledger", parseWords, "entered by the operator")
    .action(
      run(async (db, email: string, thousandths: number, { reason }: { reason: string }) => {
        const nowMs = Date.now();
        const balance = await addCredits(db, email, { thousandths, reason }, nowMs);
        return {
          json: { email, credits: toCredits(balance) },
          text: `${email} has ${toCredits(balance)} credits.`,
        };
      }),
    );

  withExamples(credits.command("history"), "credits history ceo@example.com")
    .description("show the ledger of an account, oldest entry first, with the balance after each")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const nowMs = Date.now();
        const entries = listCreditEntries(db, (await findAccount(db, email)).id);
        return { pages: toRows(entries, nowMs), whenEmpty: "No entries found." };
      }),
    );
}

async function* toRows(entries: ReturnType<typeof listCreditEntries>, nowMs: number) {
  for await (const page of entries) {
    yield page.map((json) => ({ json, row: { ...json, at: asInstant(json.at, nowMs) } }));
  }
}
