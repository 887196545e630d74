import type { Command } from "commander";
import { findAccount } from "@/lib/accounts";
import { asTable, parseEmail, type Run } from "@/lib/admin/command";
import { listEmails } from "@/lib/emails/outbox";
import { unsubscribeUrl } from "@/lib/emails/unsubscribe-token";

/** `emails list|unsubscribe-link`. */
export function addEmailCommands(program: Command, run: Run): void {
  const emails = program.command("emails").description("the onboarding emails");

  emails
    .command("list")
    .description("list an account's onboarding emails and where each stands")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const listed = await listEmails(db, (await findAccount(db, email)).id);
        return { json: listed, text: asTable(listed, "There are no emails.") };
      }),
    );

  emails
    .command("unsubscribe-link")
    .description("print the one-click link of an account's emails")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const url = unsubscribeUrl((await findAccount(db, email)).id);
        return { json: { url }, text: url };
      }),
    );
}
