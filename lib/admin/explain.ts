import * as z from "zod";
import { explain, type Facts, readFacts } from "@/lib/accounts/explanation";
import { shellAct } from "@/lib/admin/act";
import { openStore } from "@/lib/admin/command";
import { asLines, asTable } from "@/lib/admin/print";
import { selectAppAnswers, withEnds } from "@/lib/auth/sessions/app-answers";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";

export const explainAct = shellAct({
  usage: "explain <about>",
  words:
    "say what is not paid, why someone cannot sign in, and what the API answers their apps; or where a failure is in the log, by its id",
  examples: ["explain ceo@example.com", "explain 3f1c7c34-6e0e-4f0a-9d43-0b1d2c9f5a77"],
  async runWithoutStore(_, { about }: { about: string }) {
    if (!about.includes("@")) return explainId(about);
    const [db, email] = [await openStore(), about];
    const found = await readFacts(db, email, Date.now());
    const { payment, signIn, apps, facts } = explain(found);
    const told = await listTold(db, email, found);
    const first = payment === null ? "" : `Payment: ${payment}\n`;
    const text = `${first}Sign-in: ${signIn}\nApps: ${apps}\n\n${asLines(facts)}`;
    const answers = told.length > 0 ? `\n\n${asTable(told, "")}` : "";
    return { json: { email, payment, signIn, apps, facts, told }, text: `${text}${answers}` };
  },
});

/** Where the log has what failed, by the id that its answer had. Nothing else keeps failures, and the store may be away. */
function explainId(id: string) {
  const log = [
    `journalctl -u office -o cat --grep ${id} | npm run -s admin -- stack`,
    `grep -F -e ${id} service.log | npm run -s admin -- stack`,
  ];
  const isOurs = z.uuid().safeParse(id).success;
  const whose = isOurs
    ? ""
    : `${id} is no id of ours: a client sent it, or it is an email without its @.\n\n`;
  const text = `${whose}The log of the instance where this failed, and nothing else, has ${id}: what it was, and why it failed.

  ${log.join("\n  ")}`;
  return { json: { id, log }, text };
}

/** What the account's apps were told since when, so that a refusal of yesterday can be explained. */
async function listTold(db: Db, email: string, { ended }: Facts) {
  const account = await accountBy(db, "email", email).select("id").executeTakeFirst();
  const answers = account ? await selectAppAnswers(db, account.id).limit(maxAnswers).execute() : [];
  const told = withEnds(answers, ended).slice(0, maxAnswers);
  return told.map(({ app, told, at_ms, why }) => ({ app, told, since: asIso(at_ms), why }));
}

const maxAnswers = 20;
