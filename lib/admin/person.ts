import { erasePerson } from "@/lib/accounts/erasure";
import { exportPerson } from "@/lib/accounts/person";
import type { AdminCommand } from "@/lib/admin/command";
import { toJson } from "@/lib/admin/print";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import { settings } from "@/lib/config/settings";

/** `person export|erase`. */
export function addPersonCommands(program: AdminCommand): void {
  const person = program.command("person").description("personal data");

  person
    .add("export <email>", "print all data about a person, as JSON")
    .does(async ({ db }, email: string) => {
      const json = await exportPerson(db, email, Date.now());
      return { json, text: toJson(json) };
    });

  person
    .add("erase <email>", "erase a person's email everywhere; this cannot be undone")
    .does(async ({ db, confirm }, email: string) => {
      await confirm(
        `This erases ${email} everywhere: the account with its credits, sessions, apps, passkeys and mails, invitations, the waitlist and the name in the audit. It cannot be undone.`,
      );
      await deleteCustomer(db, "email", email, Date.now());
      await erasePerson(db, email, "operator", Date.now());
      const atClerk = settings().signIn.kind === "clerk" ? " Delete the user in Clerk's dashboard too." : "";
      return { json: { erased: email }, text: `Erased ${email}. Backups still have it.${atClerk}` };
    });
}
