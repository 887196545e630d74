import type { Command } from "commander";
import type { AccountTerms } from "@/lib/accounts/accounts";
import { createClerkInvitation } from "@/lib/accounts/clerk-invitations";
import { auditedInvitation, invite, withdrawInvitation } from "@/lib/accounts/invitations";
import { findWaiting, listWaitlist, removeFromWaitlist } from "@/lib/accounts/waitlist";
import { type TermOptions, toTerms, withInvitedTerms } from "@/lib/admin/account";
import { type Confirm, parseEmail, type Run, withExamples } from "@/lib/admin/command";
import { asInstant, asIso, type Result } from "@/lib/admin/print";
import { invitationMs, invitationUrl } from "@/lib/auth/invitation-token";
import { sendSignInMails } from "@/lib/auth/sign-in-runner";
import { settings } from "@/lib/config/settings";
import { auditedTransaction } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import { sender } from "@/lib/mail/sender";
import { enqueueSignInMail } from "@/lib/mail/sign-in-outbox";

/** `invite`, `waitlist list|invite|remove`. */
export function addInviteCommands(program: Command, run: Run, confirm: Confirm): void {
  withExamples(
    withInvitedTerms(program.command("invite").description("invite an email, and print the link")),
    "invite new@example.com --plan trial --trial-days 14 --credits 100",
  )
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string, options: TermOptions) => sendInvitation(db, email, toTerms(options))),
    );

  const waitlist = program.command("waitlist").description("the people who asked for an invitation");

  withExamples(waitlist.command("list"), "waitlist list")
    .description("list the waitlist, oldest first")
    .action(
      run(async (db) => ({
        pages: toRows(listWaitlist(db), Date.now()),
        whenEmpty: "The waitlist is empty.",
      })),
    );

  withExamples(
    withInvitedTerms(waitlist.command("invite").description("invite an email on the waitlist")),
    "waitlist invite waiting@example.com --plan hobby",
  )
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string, options: TermOptions) => {
        const waiting = await findWaiting(db, email);
        if (!waiting) {
          throw new ApiError("not_found", {
            message: "This email is not on the waitlist.",
            hint: "See 'waitlist list', or use 'invite'.",
          });
        }
        if (waiting.invited_at_ms !== null) {
          const invited = `${email} was invited ${asInstant(asIso(waiting.invited_at_ms), Date.now())}`;
          await confirm(`${invited}. This sends another invitation, and the earlier link stops working.`);
        }
        return sendInvitation(db, email, toTerms(options));
      }),
    );

  withExamples(waitlist.command("remove"), "waitlist remove waiting@example.com")
    .description("remove an email from the waitlist; it can join again")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        await removeFromWaitlist(db, email, Date.now());
        return { json: { removed: email }, text: `Removed ${email}.` };
      }),
    );
}

async function* toRows(waiting: ReturnType<typeof listWaitlist>, nowMs: number) {
  for await (const page of waiting) {
    yield page.map((json) => {
      const { joinedAt, invitedAt } = json;
      return {
        json,
        row: { ...json, joinedAt: asInstant(joinedAt, nowMs), invitedAt: asInstant(invitedAt, nowMs) },
      };
    });
  }
}

async function sendInvitation(db: Db, email: string, terms: AccountTerms): Promise<Result> {
  const { kind } = settings().signIn;
  if (kind === "none") {
    throw new ApiError("not_configured", {
      message: "Sign-in is not set up, so no one could accept an invitation.",
      hint: "Set SIGN_IN=local or Clerk's keys, here and for the server.",
    });
  }
  const url = kind === "clerk" ? await sendByClerk(db, email, terms) : await sendOurselves(db, email, terms);
  return { json: { email, url }, text: url };
}

/** Lets Clerk mail its own link. If that fails, no one could accept the invitation, so it is withdrawn. */
async function sendByClerk(db: Db, email: string, terms: AccountTerms): Promise<string> {
  const about = { by: "operator", ...auditedInvitation(email) } as const;
  await auditedTransaction(db, { ...about, what: "invite" }, Date.now(), (transaction) =>
    invite(transaction, email, terms, Date.now()),
  );
  try {
    return await createClerkInvitation(email);
  } catch (failure) {
    await auditedTransaction(db, { ...about, what: "invitation withdrawn" }, Date.now(), (transaction) =>
      withdrawInvitation(transaction, email),
    );
    throw failure;
  }
}

/** Mails the link. If that fails, the link still works, and the operator passes it on. */
async function sendOurselves(db: Db, email: string, terms: AccountTerms): Promise<string> {
  const nowMs = Date.now();
  const about = { by: "operator", what: "invite", ...auditedInvitation(email) } as const;
  const { id, token } = await auditedTransaction(db, about, nowMs, async (transaction) => {
    const token = await invite(transaction, email, terms, nowMs);
    const mail = {
      kind: "invitation",
      to: email,
      token,
      isOnWaitlist: (await findWaiting(transaction, email)) !== undefined,
    } as const;
    return {
      id: await enqueueSignInMail(transaction, mail, { nowMs, untilMs: nowMs + invitationMs }),
      token,
    };
  });
  const unsent = (await sendSignInMails(db, sender())).find((mail) => mail.id === id);
  if (unsent) {
    process.stderr.write(`The invitation was not mailed (${unsent.failure}). Send the link yourself.\n`);
  }
  return invitationUrl(token);
}
