import { sendInvitation } from "@/lib/accounts/joining/send-invitation";
import { findWaiting, listWaitlist, removeFromWaitlist } from "@/lib/accounts/joining/waitlist";
import { shellAct } from "@/lib/admin/act";
import type { Result } from "@/lib/admin/print";
import { invitedFields, type TypedTerms, toTerms } from "@/lib/admin/terms";
import { asInstant } from "@/lib/config/instants";
import { confirmationDays } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

type Given = TypedTerms & { email: string };

export const inviteAct = shellAct({
  usage: "invite <email>",
  words: "invite an email, and print the link",
  examples: ["invite new@example.com --plan trial --trial-days 14 --credits 100"],
  fields: invitedFields,
  run: ({ db }, given: Given) => invite(db, given),
});

export const waitlistActs = {
  list: shellAct({
    usage: "list",
    words: `list the waitlist, oldest first; an email that is not confirmed may be someone else's, and leaves the list after ${confirmationDays} days`,
    run: async ({ db }) => ({ pages: listWaitlist(db), whenEmpty: "The waitlist is empty." }),
  }),
  invite: shellAct({
    usage: "invite <email>",
    words: "invite an email on the waitlist",
    examples: ["waitlist invite waiting@example.com --plan hobby"],
    fields: invitedFields,
    async run({ db, nowMs, confirm }, given: Given) {
      const { email } = given;
      const waiting = await findWaiting(db, email);
      if (!waiting) {
        throw new ApiError("not_found", {
          message: "This email is not on the waitlist.",
          hint: "See 'waitlist list', or use 'invite'.",
        });
      }
      if (waiting.invited_at_ms !== null) {
        const invited = `${email} was invited ${asInstant(waiting.invited_at_ms, nowMs)}`;
        await confirm(`${invited}. This sends another invitation, and the earlier link stops working.`);
      }
      return invite(db, given);
    },
  }),
  remove: shellAct({
    usage: "remove <email>",
    words: "remove an email from the waitlist; it can join again",
    examples: ["waitlist remove waiting@example.com"],
    async run({ db, nowMs }, { email }: { email: string }) {
      await removeFromWaitlist(db, email, nowMs);
      return { json: { removed: email }, text: `Removed ${email}.` };
    },
  }),
};

async function invite(db: Db, { email, ...typed }: Given): Promise<Result> {
  const { url, failure } = await sendInvitation(db, email, toTerms(typed));
  if (failure !== undefined) {
    process.stderr.write(`The invitation was not mailed (${failure}). Send the link yourself.\n`);
  }
  const waits = "Queued: Clerk takes 100 invitations an hour, and mails this one later.";
  return { json: { email, url: url ?? null }, text: url ?? waits };
}
