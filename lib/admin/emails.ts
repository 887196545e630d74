import type { Command } from "commander";
import { findAccount } from "@/lib/accounts/accounts";
import { deleteExpired } from "@/lib/accounts/retention";
import { sendTrialMails } from "@/lib/accounts/trial-mails";
import { parseEmail, type Run, withExamples } from "@/lib/admin/command";
import { asInstant, asLines, asTable } from "@/lib/admin/print";
import { sendSignInMails } from "@/lib/auth/sign-in-runner";
import { listEmails } from "@/lib/mail/onboarding-outbox";
import { sendDueMails } from "@/lib/mail/onboarding-runner";
import { sender } from "@/lib/mail/sender";
import { unsubscribeUrl } from "@/lib/mail/unsubscribe-token";
import { sendAppEndMails } from "@/lib/oauth/app-end-mails";
import { sweepState } from "@/lib/oauth/sweep";

/** `emails list|unsubscribe-link|send-due`. */
export function addEmailCommands(program: Command, run: Run): void {
  const emails = program.command("emails").description("the onboarding emails");

  withExamples(emails.command("list"), "emails list ceo@example.com")
    .description("list an account's onboarding emails and their states")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const listed = await listEmails(db, (await findAccount(db, email)).id);
        const nowMs = Date.now();
        // The first row names the columns.
        const rows = listed.map(({ failure, ...email }) => ({
          ...email,
          dueAt: asInstant(email.dueAt, nowMs),
          failure,
        }));
        return { json: listed, text: asTable(rows, "No emails found.") };
      }),
    );

  withExamples(emails.command("unsubscribe-link"), "emails unsubscribe-link ceo@example.com")
    .description("print the one-click unsubscribe link of an account")
    .argument("<email>", "", parseEmail)
    .action(
      run(async (db, email: string) => {
        const url = unsubscribeUrl((await findAccount(db, email)).id);
        return { json: { url }, text: url };
      }),
    );

  withExamples(emails.command("send-due"), "emails send-due")
    .description(
      "send due emails and delete expired data, for cron; a running server does this automatically",
    )
    .action(
      run(async (db) => {
        await sendSignInMails(db, sender());
        await sendAppEndMails(db, sender());
        await sendTrialMails(db, sender());
        const tally = await sendDueMails(db, sender());
        await deleteExpired(db, Date.now());
        await sweepState(db, Date.now());
        return { json: tally, text: asLines(tally) };
      }),
    );
}
