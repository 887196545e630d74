import { addCredits, findAccount } from "@/lib/accounts/accounts";
import { listCreditEntries, toCredits } from "@/lib/accounts/ledger";
import { parseWords } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";

/** `credits add|history`. */
export function addCreditCommands(program: AdminCommand): void {
  const credits = program.command("credits").description("the balances and the ledger");

  credits
    .add(
      "add <email> <amount>",
      "add an amount to a balance; a negative amount reduces it",
      "credits add ceo@example.com 50 --reason 'a present'",
      "credits add ceo@example.com -2.5",
    )
    .option("--reason <text>", "the reason, for the ledger", parseWords, "entered by the operator")
    .does(async ({ db }, email: string, thousandths: number, { reason }: { reason: string }) => {
      const credits = toCredits(await addCredits(db, email, { thousandths, reason }, Date.now()));
      return { json: { email, credits }, text: `${email} has ${credits} credits.` };
    });

  credits
    .add("history <email>", "show the ledger of an account, oldest entry first, with the balance after each")
    .does(async ({ db }, email: string) => {
      const { id } = await findAccount(db, email);
      return { pages: listCreditEntries(db, id), whenEmpty: "No entries found." };
    });
}
