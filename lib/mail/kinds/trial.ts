import { type RawBuilder, sql } from "kysely";
import * as z from "zod";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { ownerPages } from "@/lib/http/register/pages";
import { type DueMail, dueAtOnce, mailAbout } from "@/lib/mail/kind";
import { formatInstant, linkTo, type MailContent } from "@/lib/mail/mail-content";
import { takeDueRows } from "@/lib/mail/outbox/due-rows";
import { plansInWords, type ReadPrice } from "@/lib/mail/prices";
import { choosePlan, endEffects, endWords } from "@/lib/plans/entitlement-words";
import { sellsAnyPlan } from "@/lib/plans/plan-prices";

/*
 * A mail three days before the end of a trial, and one at its end. The end in the account's row says when each is due, so
 * whatever moves the end or the plan moves or withdraws the mail, also in a build that does not know these mails.
 */

const missedAfterMs = 2 * dayMs; // a mail that is later than this would only confuse

const fields = z.object({ accountId: z.string(), endsAtMs: z.int() });
type TrialMail = z.infer<typeof fields>;

/**
 * When each is due, and whether it is still to be sent: the condition of its partial index, in the same literal words. A
 * trial that was given fewer than three days gets only the second mail, and one that was given none gets neither.
 */
export const trialMails = {
  "trial ending": mailAbout(fields, {
    isScheduled: true,
    takeDue: takeDue("trial-ending", {
      leadMs: 3 * dayMs,
      isPending: sql<boolean>`plan = 'trial' and created_at_ms <= trial_ends_at_ms - 259200000 and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms - 259200000)`,
    }),
    find: findOwner,
    examples: (atMs) => ({
      "trial-ending": { endsAtMs: atMs + 3 * dayMs, ...exampleSold() },
    }),
    // It names the end and no distance, because it may be sent later.
    text({ endsAtMs, isSold, plans }, zone) {
      const end = formatInstant(endsAtMs, zone);
      return {
        subject: `Your trial ends on ${end}`,
        preview: "Your assistants pause then, and nothing is lost.",
        body: [
          `${endEffects.soon} ${endEffects.nothingLost}`,
          { facts: costOf(plans) },
          ...howToChoose(isSold, " before then"),
        ],
      };
    },
  }),
  "trial ended": mailAbout(fields, {
    isScheduled: true,
    takeDue: takeDue("trial-ended", {
      leadMs: 0,
      isPending: sql<boolean>`plan = 'trial' and created_at_ms < trial_ends_at_ms and (trial_mail_done_ms is null or trial_mail_done_ms < trial_ends_at_ms)`,
    }),
    find: findOwner,
    examples: (atMs) => ({ "trial-ended": { endsAtMs: atMs, ...exampleSold() } }),
    text: ({ endsAtMs, isSold, plans }, zone) => ({
      subject: endWords({ what: "trial" }).heading,
      preview: "Your assistants pause, and nothing is lost.",
      body: [
        `${endEffects.now} ${endEffects.nothingLost}`,
        { facts: { "Trial ended": formatInstant(endsAtMs, zone), ...costOf(plans) } },
        ...howToChoose(isSold),
      ],
    }),
  }),
};

/** Marks the trials whose mails are due. */
function takeDue(name: string, { leadMs, isPending }: { leadMs: number; isPending: RawBuilder<boolean> }) {
  return async (transaction: Db, nowMs: number): Promise<DueMail<TrialMail>[]> => {
    // An account without a subject belongs to no one who could sign in.
    const due = transaction
      .selectFrom("accounts")
      .select("id")
      .where(isPending)
      .where("subject", "is not", null)
      .where("trial_ends_at_ms", "<=", nowMs + leadMs)
      .where("trial_ends_at_ms", ">", nowMs + leadMs - missedAfterMs)
      .orderBy("trial_ends_at_ms");
    const change = { trial_mail_done_ms: sql<number>`trial_ends_at_ms - ${leadMs}` };
    const rows = await takeDueRows(transaction, "accounts", { due, limit: dueAtOnce, change });
    return (rows ?? []).map(({ id: accountId, trial_ends_at_ms }) => {
      const endsAtMs = trial_ends_at_ms ?? nowMs;
      const about = `${name}:v1:${accountId}:${endsAtMs}`;
      return { mail: { accountId, endsAtMs }, about, untilMs: endsAtMs - leadMs + missedAfterMs };
    });
  };
}

/** Its owner, and what plans are sold; `undefined` if the trial does not end then any more. */
async function findOwner(db: Db, { accountId, endsAtMs }: TrialMail, nowMs: number, readPrice: ReadPrice) {
  const owner = await accountBy(db, "id", accountId)
    .select("email as to")
    .where("subject", "is not", null)
    .where("plan", "=", "trial")
    .where("trial_ends_at_ms", "=", endsAtMs)
    .executeTakeFirst();
  if (!owner) return undefined;
  const plans = await plansInWords(db, { readPrice, nowMs });
  return { ...owner, endsAtMs, isSold: plans !== undefined || (await sellsAnyPlan(db)), plans };
}

/** How to get a plan: the button where they are sold, or else whom to ask. */
const howToChoose = (isSold: boolean, when = ""): MailContent["body"] => [
  isSold ? linkTo(ownerPages.billing, choosePlan) : `For a plan, ${askUs()}${when}.`,
];

const costOf = (plans: string | undefined) => ({
  Cost: "Nothing. The trial is free, and no card is charged",
  "A plan": plans,
});

const exampleSold = () => {
  const isSold = settings().billing !== undefined;
  return { isSold, plans: isSold ? "Office €49 a month, Team €99 a month" : undefined };
};
