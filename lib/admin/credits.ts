import { AddedBefore, addCredits, findAccount } from "@/lib/accounts/accounts";
import { listCreditEntries, toCredits } from "@/lib/accounts/ledger";
import { parseWords } from "@/lib/admin/arguments";
import type { AdminCommand } from "@/lib/admin/command";
import { asIso } from "@/lib/config/instants";

/** What is entered twice within this time is perhaps a repetition of a command that could not say whether it was done. */
const asksAgainWithinMs = 60 * 60_000;

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
    .does(async ({ db, confirm }, email: string, thousandths: number, { reason }: { reason: string }) => {
      const nowMs = Date.now();
      const add = (newSinceMs?: number) => addCredits(db, email, { thousandths, reason, newSinceMs }, nowMs);
      const after = await add(nowMs - asksAgainWithinMs).catch(async (failure) => {
        if (!(failure instanceof AddedBefore)) throw failure;
        const given = `${toCredits(thousandths)} credits for “${reason}” at ${asIso(failure.atMs)}`;
        await confirm(`${email} got ${given}, and gets them again.`);
        return add();
      });
      const credits = toCredits(after);
      return { json: { email, credits }, text: `${email} has ${credits} credits.` };
    });

  credits
    .add("history <email>", "show the ledger of an account, oldest entry first, with the balance after each")
    .does(async ({ db }, email: string) => {
      const { id } = await findAccount(db, email);
      return { pages: listCreditEntries(db, id), whenEmpty: "No entries found." };
    });
}
