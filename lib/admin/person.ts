import type { Command } from "commander";
import { erasePerson } from "@/lib/accounts/erasure";
import { exportPerson } from "@/lib/accounts/person";
import { type Confirm, parseEmail, type Run, withExamples } from "@/lib/admin/command";
import { toJson } from "@/lib/admin/print";
import { deleteCustomer } from "@/lib/billing/customer";
import { settings } from "@/lib/config/settings";

/** `person export|erase`. */
export function addPersonCommands(program: Command, run: Run, confirm: Confirm): void {
  const person = program.command("person").description("personal data");

  withExamples(person.command("export"), "person export ceo@example.com")
    .description("print all data about a person, as JSON")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const json = await exportPerson(db, email, Date.now());
        return { json, text: toJson(json) };
      }),
    );

  withExamples(person.command("erase"), "person erase ceo@example.com")
    .description("erase a person's email everywhere; this cannot be undone")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        await confirm(
          `This erases ${email} everywhere: the account with its credits, sessions, apps, passkeys and mails, invitations, the waitlist and the name in the audit. It cannot be undone.`,
        );
        await deleteCustomer(db, "email", email, Date.now());
        await erasePerson(db, email, Date.now());
        const atClerk =
          settings().signIn.kind === "clerk" ? " Delete the user in Clerk's dashboard too." : "";
        return { json: { erased: email }, text: `Erased ${email}. Backups still have it.${atClerk}` };
      }),
    );
}
