import { explain, readFacts } from "@/lib/accounts/explanation";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines, asTable } from "@/lib/admin/print";
import { selectAppAnswers } from "@/lib/auth/sessions/app-answers";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";

/** `explain`. */
export function addExplainCommand(program: AdminCommand): void {
  program
    .add(
      "explain <email>",
      "say what is not paid, why someone cannot sign in, and what the API answers their apps",
    )
    .does(async ({ db }, email: string) => {
      const { payment, signIn, apps, facts } = explain(await readFacts(db, email, Date.now()));
      const told = await listTold(db, email);
      const first = payment === null ? "" : `Payment: ${payment}\n`;
      const text = `${first}Sign-in: ${signIn}\nApps: ${apps}\n\n${asLines(facts)}`;
      const answers = told.length > 0 ? `\n\n${asTable(told, "")}` : "";
      return { json: { email, payment, signIn, apps, facts, told }, text: `${text}${answers}` };
    });
}

/** What the account's apps were told since when, so that a refusal of yesterday can be explained. */
async function listTold(db: Db, email: string) {
  const account = await accountBy(db, "email", email).select("id").executeTakeFirst();
  const answers = account ? await selectAppAnswers(db, account.id).limit(maxAnswers).execute() : [];
  return answers.map(({ app, told, at_ms }) => ({ app, told, since: asIso(at_ms) }));
}

const maxAnswers = 20;
