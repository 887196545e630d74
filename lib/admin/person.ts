import { whoseFormerEmail } from "@/lib/accounts/email-change";
import { erasePerson } from "@/lib/accounts/leaving/erasure";
import { exportPerson } from "@/lib/accounts/leaving/person";
import { act } from "@/lib/admin/act";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import { settings } from "@/lib/config/settings";
import { objectInParts } from "@/lib/runtime/json-text";

type One = { email: string };

/** Of an email of before: who writes from it may mean the account that has another one now. */
const movedTo = (email: string) => `The account of ${email}, whose owner had this email before,`;

/** What an erasure takes. */
export const allOfThem =
  "the account with its credits, sessions, apps, passkeys and mails, invitations, the waitlist and the name in the audit";

export const personActs = {
  export: act({
    usage: "export <email>",
    words: "print all data about a person, as JSON",
    effect: { does: "A file with all that is stored about them.", undo: "It changes nothing." },
    form: { path: "/account/export", name: "export everything about the person" },
    async run({ db, nowMs, confirm }, { email }: One) {
      const moved = await whoseFormerEmail(db, email).executeTakeFirst();
      if (moved) await confirm(`${movedTo(moved.email)} is not in this.`);
      return { json: objectInParts(await exportPerson(db, email, nowMs)), text: "" };
    },
    preview: async (_, { email }) => ({ whom: email, changes: [] }),
  }),
  erase: act({
    usage: "erase <email>",
    words: "erase a person's email everywhere; this cannot be undone",
    effect: {
      does: `Their email goes now, everywhere: ${allOfThem}. Backups from before still have it.`,
    },
    form: {
      path: "/account/erase",
      name: "erase the person",
      done: "Everything about this person is erased.",
    },
    async run({ db, by, nowMs, confirm }, { email }: One) {
      const moved = await whoseFormerEmail(db, email).executeTakeFirst();
      const stays = moved ? ` ${movedTo(moved.email)} stays.` : "";
      await confirm(`This erases ${email} everywhere: ${allOfThem}. It cannot be undone.${stays}`);
      await deleteCustomer(db, "email", email, nowMs);
      await erasePerson(db, email, by, nowMs);
      const atClerk = settings().signIn.kind === "clerk" ? " Delete the user in Clerk's dashboard too." : "";
      return { json: { erased: email }, text: `Erased ${email}. Backups still have it.${atClerk}` };
    },
    preview: async (_, { email }) => ({
      whom: email,
      changes: [{ what: "All that is stored about them", before: "kept", after: "erased" }],
    }),
  }),
};
