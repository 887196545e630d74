import type { Command } from "commander";
import { addCredits, findAccount } from "@/lib/accounts/accounts";
import { listCreditEntries, toCredits } from "@/lib/accounts/ledger";
import { parseAmount, parseEmail, parseWords, type Run, withExamples } from "@/lib/admin/command";

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
        const credits = toCredits(await addCredits(db, email, { thousandths, reason }, Date.now()));
        return { json: { email, credits }, text: `${email} has ${credits} credits.` };
      }),
    );

  withExamples(credits.command("history"), "credits history ceo@example.com")
    .description("show the ledger of an account, oldest entry first, with the balance after each")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const { id } = await findAccount(db, email);
        return { pages: listCreditEntries(db, id), whenEmpty: "No entries found." };
      }),
    );
}
