import type { Command } from "commander";
import { findAccount } from "@/lib/accounts/accounts";
import { listCreditEntries, toCredits, writeCreditEntry } from "@/lib/accounts/ledger";
import { asTable, parseAmount, parseEmail, parseWords, type Run } from "@/lib/admin/command";

/** `credits add|history`. */
export function addCreditCommands(program: Command, run: Run): void {
  const credits = program.command("credits").description("the balances and their ledger");

  credits
    .command("add")
    .description("add to a balance, or with a negative amount take from it")
    .argument("<email>", "", parseEmail)
    .argument("<amount>", "", parseAmount)
    .option("--reason <text>", "why, for the ledger", parseWords, "entered by the operator")
    .action(
      run(async (db, email: string, thousandths: number, { reason }: { reason: string }) => {
        const balance = await db.transaction().execute(async (transaction) => {
          const { id } = await findAccount(transaction, email);
          return writeCreditEntry(transaction, { accountId: id, thousandths, reason }, Date.now());
        });
        return {
          json: { email, credits: toCredits(balance) },
          text: `${email} has ${toCredits(balance)} credits.`,
        };
      }),
    );

  credits
    .command("history")
    .description("show the ledger of an account, oldest entry first")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const entries = await listCreditEntries(db, (await findAccount(db, email)).id);
        return { json: entries, text: asTable(entries, "There are no entries.") };
      }),
    );
}
