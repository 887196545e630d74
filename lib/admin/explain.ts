import type { Command } from "commander";
import { explain, readFacts } from "@/lib/accounts/explanation";
import { parseEmail, type Run, withExamples } from "@/lib/admin/command";
import { asLines } from "@/lib/admin/print";

/** `explain`. */
export function addExplainCommand(program: Command, run: Run): void {
  withExamples(program.command("explain"), "explain ceo@example.com")
    .description("say why someone cannot sign in, and what the API answers their apps")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const { signIn, apps, facts } = explain(await readFacts(db, email, Date.now()));
        const text = `Sign-in: ${signIn}\nApps: ${apps}\n\n${asLines(facts)}`;
        return { json: { email, signIn, apps, facts }, text };
      }),
    );
}
