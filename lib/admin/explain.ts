import { explain, readFacts } from "@/lib/accounts/explanation";
import type { AdminCommand } from "@/lib/admin/command";
import { asLines } from "@/lib/admin/print";

/** `explain`. */
export function addExplainCommand(program: AdminCommand): void {
  program
    .add("explain <email>", "say why someone cannot sign in, and what the API answers their apps")
    .does(async ({ db }, email: string) => {
      const { signIn, apps, facts } = explain(await readFacts(db, email, Date.now()));
      const text = `Sign-in: ${signIn}\nApps: ${apps}\n\n${asLines(facts)}`;
      return { json: { email, signIn, apps, facts }, text };
    });
}
