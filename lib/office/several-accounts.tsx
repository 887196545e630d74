import { randomUUID } from "node:crypto";
import * as z from "zod";
import { addCredits, setAccount } from "@/lib/accounts/accounts";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { type Change, effectInWords } from "@/lib/admin/act";
import { parseAmount, parseWords } from "@/lib/admin/arguments";
import { hashContent } from "@/lib/http/etag";
import { Choice, Field, inForm, planOptions, readTerms } from "@/lib/office/forms";
import { doForEach, showOutcomes, someOf } from "@/lib/office/outcomes";
import { formWithProof, invalid, type OfficeAct, type OfficeCall } from "@/lib/office/page";
import { type Plans, readPlans } from "@/lib/plans/plan";

const acts = { "": "Choose a plan or credits…", plan: "Give the plan", credits: "Add the credits" };

/** The fields below a list of accounts: what is done with those that are ticked. */
export function SeveralFields({ call, plans }: { call: OfficeCall; plans: Plans }) {
  return (
    <section className="several">
      <h2>With those that you choose</h2>
      <input type="hidden" name="once" value={randomUUID()} />
      <div className="filter">
        <Choice call={call} name="act" label="Do this" options={acts} />
        <Choice call={call} name="give" label="Plan" options={planOptions(plans)} />
        <Field call={call} name="trialDays" label="Days of a trial, from now" inputMode="numeric" />
        <Field call={call} name="amount" label="Credits to add (−5 removes)" inputMode="decimal" />
        <Field call={call} name="reason" label="Reason, which the owners read" maxLength={500} />
        <button type="submit" className="plain">
          Change the chosen accounts
        </button>
      </div>
      <p className="effect">{effectInWords(changeSeveral.effect)}</p>
    </section>
  );
}

const maxSeveral = 200; // each is a transaction

/** Gives a plan or credits to several accounts, each by itself. Those that it was refused for are listed with the reason. */
export const changeSeveral = {
  ...formWithProof("/accounts/change"),
  name: "change several accounts",
  done: "Done for all that you chose.",
  effect: {
    does: "Each is changed by itself, and those that cannot be are listed with the reason.",
    undo: "Another change takes it back.",
  },
  async preview(call) {
    const whom = readChosen(call);
    readAct(call);
    return { whom: `${whom.length} accounts: ${someOf(whom)}`, changes: await describeAct(call) };
  },
  async run(call) {
    const emails = readChosen(call);
    const notDone = await doForEach(emails, readAct(call));
    if (notDone.length === 0) return;
    return showOutcomes({
      title: `Done for ${emails.length - notDone.length} of ${emails.length}`,
      caption: "Not done",
      notDone,
      back: { path: "/accounts", name: "Accounts" },
    });
  },
} satisfies OfficeAct;

function readChosen({ input }: OfficeCall): string[] {
  const emails = [...new Set((input("emails") ?? "").split(/\s+/).filter(Boolean))];
  if (emails.length === 0) throw invalid("Choose at least one account.");
  if (emails.length > maxSeveral) throw invalid(`Choose at most ${maxSeveral}: there are ${emails.length}.`);
  return emails;
}

/** What each gets, in words. */
async function describeAct({ db, input }: OfficeCall): Promise<Change[]> {
  if (input("act") === "credits")
    return [
      { what: "Credits added to each", after: input("amount") ?? "" },
      { what: "Reason they read", after: input("reason") ?? "" },
    ];
  const give = input("give") ?? "";
  const title = (await readPlans(db)).get(give)?.title ?? give;
  const days = input("trialDays") || defaultTrialDays;
  return [
    { what: "Plan", after: give === "trial" ? `${title}, ${days} days from now` : `${title}, for good` },
  ];
}

/** What is done with each. Throws an {@link ApiError} for what can be done with none. */
function readAct(call: OfficeCall): (email: string) => Promise<void> {
  const { db, by, nowMs, input } = call;
  if (input("act") === "plan") {
    const terms = readTerms({ input: (name) => input(name === "plan" ? "give" : name) });
    return async (email) => void (await setAccount(db, email, { ...terms, by }, nowMs));
  }
  if (input("act") !== "credits") throw invalid("Choose what to do.");
  const thousandths = inForm("amount", "The amount", () => parseAmount(input("amount") ?? ""));
  const reason = inForm("reason", "The reason", () => parseWords(input("reason") ?? ""));
  const once = z.uuid().safeParse(input("once")).data;
  if (!once) throw invalid("The form is incomplete.");
  // A form that is sent again counts once for each, also if only some had got theirs.
  return async (email) => {
    const id = hashContent(`${once} ${email}`);
    await addCredits(db, email, { thousandths, reason, by, id }, nowMs);
  };
}
