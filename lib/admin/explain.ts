import { explain, readFacts } from "@/lib/accounts/explanation";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines } from "@/lib/admin/print";

/** `explain`. */
export function addExplainCommand(program: AdminCommand): void {
  program
    .add(
      "explain <email>",
      "say what is not paid, why someone cannot sign in, and what the API answers their apps",
    )
    .does(async ({ db }, email: string) => {
      const { payment, signIn, apps, facts } = explain(await readFacts(db, email, Date.now()));
      const first = payment === null ? "" : `Payment: ${payment}\n`;
      const text = `${first}Sign-in: ${signIn}\nApps: ${apps}\n\n${asLines(facts)}`;
      return { json: { email, payment, signIn, apps, facts }, text };
    });
}
