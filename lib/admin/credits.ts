import * as z from "zod";
import { AddedBefore, addCredits, findAccount } from "@/lib/accounts/accounts";
import { listCreditEntries, spendable, toCredits } from "@/lib/accounts/credits/ledger";
import { act, option, shellAct } from "@/lib/admin/act";
import { parseAmount, parser, parseWords } from "@/lib/admin/arguments";
import { asIso } from "@/lib/config/instants";

/** What is entered twice within this time is perhaps a repetition of a command that could not say whether it was done. */
const asksAgainWithinMs = 60 * 60_000;

type Given = { email: string; amount: number; reason: string; once?: string };

export const addCreditsAct = act({
  usage: "add <email> <amount>",
  words: "add an amount to a balance; a negative amount reduces it",
  effect: {
    does: "The owner sees it with its reason at once.",
    undo: "To take it back, enter the opposite amount.",
  },
  examples: ["credits add ceo@example.com 50 --reason 'a present'", "credits add ceo@example.com -2.5"],
  fields: {
    amount: { parse: parseAmount, label: "Credits to add (−5 removes)", subject: "The amount", as: "number" },
    reason: {
      ...option("--reason <text>", "the reason, for the ledger", parseWords),
      initial: "entered by the operator",
      read: parseWords,
      label: "Reason, which the owner reads",
      subject: "The reason",
    },
    // Of the page that the form is on: a form that is sent twice counts once, whatever was spent meanwhile.
    once: { read: parser((text) => z.uuid().safeParse(text).data, "The form is incomplete.") },
  },
  form: { path: "/account/credits", name: "change the balance", done: "The balance is changed." },
  async run({ db, by, nowMs, confirm }, { email, amount: thousandths, reason, once }: Given) {
    const added = { thousandths, reason, by, ...(once && { id: once }) };
    const newForMs = once ? undefined : asksAgainWithinMs;
    const after = await addCredits(db, email, { ...added, newForMs }, nowMs).catch(async (failure) => {
      if (!(failure instanceof AddedBefore)) throw failure;
      const given = `${toCredits(thousandths)} credits for “${reason}” at ${asIso(failure.atMs)}`;
      await confirm(`${email} got ${given}, and gets them again.`);
      return addCredits(db, email, added, nowMs);
    });
    const credits = toCredits(after);
    return { json: { email, credits }, text: `${email} has ${credits} credits.` };
  },
  async preview({ db, nowMs }, { email, amount, reason }) {
    const now = spendable(await findAccount(db, email, nowMs));
    const inWords = (thousandths: number) => toCredits(thousandths).toLocaleString("en");
    const changes = [
      { what: "Credits", before: inWords(now), after: inWords(now + amount) },
      { what: "Reason they read", after: reason },
    ];
    return { whom: email, changes };
  },
});

const historyAct = shellAct({
  usage: "history <email>",
  words: "show the ledger of an account, oldest entry first, with the balance after each",
  async run({ db }, { email }: { email: string }) {
    const { id } = await findAccount(db, email);
    return { pages: listCreditEntries(db, id), whenEmpty: "No entries found." };
  },
});

export const creditActs = [addCreditsAct, historyAct];
