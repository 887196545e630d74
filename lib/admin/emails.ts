import { findAccount } from "@/lib/accounts/accounts";
import { deleteExpired } from "@/lib/accounts/leaving/retention";
import { act, shellAct } from "@/lib/admin/act";
import { parseWords } from "@/lib/admin/arguments";
import { asLines, asTable } from "@/lib/admin/print";
import { sweepCodes } from "@/lib/auth/codes/sign-in-code-limits";
import { eraseLeavers } from "@/lib/billing/leavers";
import { readPriceForMail } from "@/lib/billing/prices/prices";
import { asIso } from "@/lib/config/instants";
import { accountBy } from "@/lib/db/account-by";
import { ApiError } from "@/lib/http/errors";
import { findLinkKey } from "@/lib/mail/links/link-keys";
import { unsubscribeUrl } from "@/lib/mail/links/unsubscribe-token";
import { attemptsTo, describeMail } from "@/lib/mail/outbox/attempts";
import { retryFailedMails } from "@/lib/mail/outbox/failed-mails";
import { onboardingOutbox, selectEmails } from "@/lib/mail/outbox/onboarding-outbox";
import { sendDueMails } from "@/lib/mail/outbox/outbox-runner";
import { outbox, scheduledOutbox } from "@/lib/mail/outbox/outboxes";
import { takeAsSent } from "@/lib/mail/outbox/sent-before";
import { sender } from "@/lib/mail/senders/sender";
import { sweepState } from "@/lib/oauth/sweep";

type One = { email: string };

const listAct = shellAct({
  usage: "list <email>",
  words: "list the emails to someone, also codes and invitations, with their states and the provider's words",
  async run({ db }, { email }: One) {
    const attempts = await attemptsTo(db, email).execute();
    // An invited email has no account yet.
    if (attempts.length === 0) await findAccount(db, email);
    const account = await accountBy(db, "email", email).select("id").executeTakeFirst();
    const series = account ? await selectEmails(db, account.id).execute() : [];
    const listed = [...series, ...attempts].map(describeMail);
    // The first row names the columns.
    const rows = listed.map(({ failure, ...email }) => ({ ...email, failure }));
    return { json: listed, text: asTable(rows, "No emails found.") };
  },
});

const linkAct = shellAct({
  usage: "unsubscribe-link <email>",
  words: "print the one-click unsubscribe link of an account",
  async run({ db }, { email }: One) {
    const { id } = await findAccount(db, email);
    const url = unsubscribeUrl(await findLinkKey(db), id);
    return { json: { url }, text: url };
  },
});

const sendDueAct = shellAct({
  usage: "send-due",
  words: "send due emails and delete expired data, for cron; a running server does this automatically",
  async run({ db }) {
    await sendDueMails(db, sender(), outbox);
    await sendDueMails(db, sender(), scheduledOutbox(readPriceForMail));
    const tally = await sendDueMails(db, sender(), onboardingOutbox);
    await sweepCodes(db, Date.now());
    await eraseLeavers(db, Date.now());
    await deleteExpired(db, Date.now());
    await sweepState(db, Date.now());
    return { json: tally, text: asLines(tally) };
  },
});

export const retryMailsAct = act({
  usage: "retry <failure>",
  words: "try the onboarding emails again that failed with these words, as 'emails list' shows them",
  examples: ["emails retry 'Mailbox full'"],
  fields: { failure: { read: (typed) => typed, parse: parseWords }, id: { read: (typed) => typed } },
  form: { path: "/mails/retry", name: "send mails again", done: "They are tried again now." },
  needsNoProof: true,
  async run({ db, by, nowMs }, { failure, id }: { failure: string; id?: string }) {
    const which = id
      ? ({ column: "id", value: id } as const)
      : ({ column: "failure", value: failure } as const);
    const retried = await retryFailedMails(db, { ...which, by }, nowMs);
    return { json: { retried }, text: `${retried} mails are tried again.` };
  },
});

const sentUntilAct = shellAct({
  usage: "sent-until <instant>",
  words:
    "after a restore, take the emails that were due by then as sent, because the service ran until then; before it runs again",
  async run({ db, by, nowMs, confirm }, { instant }: { instant: number }) {
    if (instant > nowMs)
      throw new ApiError("invalid_request", {
        message: `${asIso(instant)} is still to come.`,
        hint: "Name the time at which the service stopped.",
      });
    await confirm(`No email that was due by ${asIso(instant)} is sent any more.`);
    const emails = await takeAsSent(db, instant, by, nowMs);
    return { json: { emails }, text: `${emails} emails count as sent.` };
  },
});

export const emailActs = [listAct, retryMailsAct, linkAct, sendDueAct, sentUntilAct];
