import { sql } from "kysely";
import * as z from "zod";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import type { Db } from "@/lib/db/store";
import { ownerPages } from "@/lib/http/register/pages";
import { type DueMail, dueAtOnce, mailAbout } from "@/lib/mail/kind";
import { formatInstant, linkTo } from "@/lib/mail/mail-content";
import { takeDueRows } from "@/lib/mail/outbox/due-rows";
import { plansInWords, type ReadPrice } from "@/lib/mail/prices";
import {
  choosePlan,
  endEffects,
  endWords,
  type LicenceEnd,
  payOrChange,
  withSum,
} from "@/lib/plans/entitlement-words";
import { currentLicence, describeDue, endStateOf } from "@/lib/plans/licence-state";
import { readPlans } from "@/lib/plans/plan";
import { listPlanPrices, planOfPrice, sellsAnyPlan } from "@/lib/plans/plan-prices";

/*
 * The mails about a licence from Stripe: when its payment has failed, three days before it ends if it was cancelled, and
 * at its end. The first and the last are queued by the transaction that stores the change, and wait five minutes for what
 * may mend it; the second is queued when it is due. What is stored when a mail is sent decides whether it is: a payment or
 * a cancellation that was taken back withdraws it.
 */

const endingLeadMs = 3 * dayMs;

const failed = z.object({ subscriptionId: z.string(), unpaidSinceMs: z.int() });
const ending = z.object({ subscriptionId: z.string(), endsAtMs: z.int() });
const ended = z.object({ accountId: z.string(), endedAtMs: z.int() });

export const licenceMails = {
  "payment failed": mailAbout(failed, {
    isScheduled: true,
    find: findFailed,
    examples: (atMs) => ({
      "payment-failed": {
        unpaidSinceMs: atMs,
        stopsAtMs: atMs + 14 * dayMs,
        status_reason: null,
        due: "€49",
        planTitle: "Office",
        triedAtMs: atMs + 3 * dayMs,
      },
    }),
    text(mail, zone) {
      const stop = formatInstant(mail.stopsAtMs, zone);
      const { subject, meanwhile, press } = failures[mail.status_reason ?? ""] ?? failedRenewal;
      const ofSum = mail.due ? ` of ${mail.due}` : "";
      return {
        subject: subject(ofSum),
        preview: `Your assistants stop on ${stop} if it stays unpaid.`,
        body: [
          meanwhile,
          {
            facts: {
              Plan: mail.planTitle,
              Cost: `${mail.due ?? "The sum of the invoice"}, and nothing on top`,
              "Unpaid since": formatInstant(mail.unpaidSinceMs, zone),
              "We try again": mail.triedAtMs ? formatInstant(mail.triedAtMs, zone) : undefined,
              "Assistants stop": `${stop}, if it stays unpaid`,
            },
          },
          linkTo(ownerPages.billing, withSum(press, mail.due)),
          "If you have paid already, you have nothing to do.",
        ],
      };
    },
  }),
  "licence ending": mailAbout(ending, {
    isScheduled: true,
    takeDue: takeEnding,
    find: findEnding,
    examples: (atMs) => ({
      "licence-ending": {
        endsAtMs: atMs + 3 * dayMs,
        after: "nothing" as const,
        plan: "Office",
        price: "€49 a month",
      },
    }),
    // It names the end and no distance, because it may be sent later.
    text({ endsAtMs, after, plan, price }, zone) {
      const end = formatInstant(endsAtMs, zone);
      return {
        subject: `Your plan ends on ${end}`,
        preview: after === "nothing" ? "Your assistants pause then, and nothing is lost." : goesOn[after],
        body: [
          `You cancelled it. ${after === "nothing" ? endEffects.soon : goesOn[after]} ${endEffects.nothingLost}`,
          {
            facts: {
              Plan: plan,
              Cost: "Nothing now, and nothing more if you let it end",
              "If you keep it": `${price ?? "You pay as before"}, from that day on`,
            },
          },
          linkTo(ownerPages.billing, "Keep the plan", "optional"),
        ],
      };
    },
  }),
  "licence ended": mailAbout(ended, {
    isScheduled: true,
    triedForMs: 2 * dayMs, // as for trials
    find: findEnded,
    examples: (atMs) => ({
      "licence-ended": {
        after: "nothing" as const,
        plan: "Office",
        isSold: true,
        plans: "Office €49 a month, Team €99 a month",
        due: undefined,
        end: { what: "licence", atMs, how: "ended" } as const,
      },
    }),
    text({ end, after, plan, isSold, plans, due }, zone) {
      const next = whatNext[end.how];
      const choosesPlan = next.press === choosePlan;
      return {
        subject: endWords(end, zone).heading,
        preview: after === "nothing" ? "Your assistants pause, and nothing is lost." : goesOn[after],
        body: [
          `${after === "nothing" ? endEffects.now : goesOn[after]} ${endEffects.nothingLost}`,
          ...(next.words ? [next.words] : []),
          {
            facts: {
              [end.how === "trial over" ? "You tried" : "Plan"]: plan,
              Ended: formatInstant(end.atMs, zone),
              Cost: due && end.how === "unpaid" ? `${due}, the last invoice` : next.cost,
              "A plan": choosesPlan ? plans : undefined,
            },
          },
          choosesPlan && !isSold
            ? `For another plan, ${askUs()}.`
            : linkTo(
                ownerPages.billing,
                withSum(next.press, due),
                end.how === "unpaid" ? undefined : "optional",
              ),
        ],
      };
    },
  }),
};

/** The title of the plan of a price. */
async function namePlan(db: Db, priceId: string | null = null): Promise<string | undefined> {
  return planOfPrice(await listPlanPrices(db, await readPlans(db)), priceId)?.title;
}

/** Marks the cancelled licences that end soon. */
async function takeEnding(transaction: Db, nowMs: number): Promise<DueMail<z.infer<typeof ending>>[]> {
  if (!settings().billing) return [];
  const due = transaction
    .selectFrom("billing_subscriptions")
    .select("id")
    .where("ends_at_ms", ">", nowMs)
    .where("ends_at_ms", "<=", nowMs + endingLeadMs)
    .where("licence_until_ms", ">", nowMs)
    .where("status", "in", ["active", "trialing"])
    .whereRef("ending_mail_ms", "is distinct from", "ends_at_ms")
    .orderBy("ends_at_ms");
  const rows = await takeDueRows(transaction, "billing_subscriptions", {
    due,
    limit: dueAtOnce,
    change: { ending_mail_ms: sql<number>`ends_at_ms` },
  });
  return (rows ?? []).map(({ id: subscriptionId, ends_at_ms }) => {
    const endsAtMs = ends_at_ms ?? nowMs;
    const about = `licence-ending:v1:${subscriptionId}:${endsAtMs}`;
    return { mail: { subscriptionId, endsAtMs }, about, untilMs: endsAtMs };
  });
}

/**
 * `undefined` if it was paid, or the licence has ended. `triedAtMs`: when the card is charged again, if Stripe does; `due`:
 * what is to be paid, as “€49”; both if known.
 */
async function findFailed(db: Db, mail: z.infer<typeof failed>, nowMs: number) {
  const licence = await ownedSubscriptions(db)
    .select(["email", "licence_until_ms", "status_reason"])
    .select(["amount_due", "subscription.currency", "open_invoices", "next_attempt_ms", "paid_plan"])
    .where("subscription.id", "=", mail.subscriptionId)
    .where("unpaid_since_ms", "=", mail.unpaidSinceMs)
    .where("licence_until_ms", ">", nowMs)
    .executeTakeFirst();
  if (!licence) return undefined;
  const { email: to, licence_until_ms: stopsAtMs, status_reason, next_attempt_ms, paid_plan } = licence;
  const planTitle = (await readPlans(db)).get(paid_plan ?? "licensed")?.title;
  const triedAtMs = (next_attempt_ms ?? 0) > nowMs ? next_attempt_ms : null;
  const { unpaidSinceMs } = mail;
  return { to, unpaidSinceMs, stopsAtMs, triedAtMs, status_reason, due: describeDue(licence), planTitle };
}

/** `undefined` if it goes on, or the account has another one. */
async function findEnding(db: Db, mail: z.infer<typeof ending>, nowMs: number, readPrice: ReadPrice) {
  const licence = await ownedSubscriptions(db)
    .innerJoin("billing_customers as customer", "customer.account_id", "accounts.id")
    .select(["email", "plan_before", "trial_ends_before_ms", "price_id", "subscription.currency"])
    .where("subscription.id", "=", mail.subscriptionId)
    .where("subscription.status", "in", ["active", "trialing"])
    .where("ends_at_ms", "=", mail.endsAtMs)
    .where("licence_until_ms", ">", 0)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("billing_subscriptions as other")
            .select("other.id")
            .whereRef("other.account_id", "=", "accounts.id")
            .where("other.licence_until_ms", ">", mail.endsAtMs),
        ),
      ),
    )
    .executeTakeFirst();
  const after = licence && afterLicence(licence.plan_before, licence.trial_ends_before_ms, mail.endsAtMs);
  if (!after) return undefined;
  const { email: to, price_id, currency } = licence;
  const price = price_id ? await readPrice(price_id, currency ?? undefined, nowMs) : undefined;
  return { to, endsAtMs: mail.endsAtMs, after, plan: await namePlan(db, price_id), price: price?.amount };
}

/** `undefined` if the account has a licence again. */
async function findEnded(db: Db, mail: z.infer<typeof ended>, nowMs: number, readPrice: ReadPrice) {
  const owner = await db
    .selectFrom("accounts")
    .select(["email", "plan", "trial_ends_at_ms"])
    .where("accounts.id", "=", mail.accountId)
    .where("subject", "is not", null)
    .executeTakeFirst();
  const after = owner && afterLicence(owner.plan, owner.trial_ends_at_ms, nowMs);
  const subscriptions = db.selectFrom("billing_subscriptions").selectAll();
  const licence = currentLicence(await subscriptions.where("account_id", "=", mail.accountId).execute());
  const how: LicenceEnd = licence ? endStateOf(licence) : "ended";
  const end = { what: "licence", atMs: mail.endedAtMs, how } as const;
  if (!after) return undefined;
  const plans = await plansInWords(db, { readPrice, currency: licence?.currency, nowMs });
  const isSold = plans !== undefined || (await sellsAnyPlan(db));
  const [plan, due] = [await namePlan(db, licence?.price_id), licence && describeDue(licence)];
  return { to: owner.email, after, end, plan, isSold, plans, due };
}

function ownedSubscriptions(db: Db) {
  return db
    .selectFrom("billing_subscriptions as subscription")
    .innerJoin("accounts", "accounts.id", "subscription.account_id")
    .where("subject", "is not", null);
}

/** What an account has after its licence, by the terms that an operator gives it; `undefined` if that is a licence. */
function afterLicence(
  plan: string | null,
  trialEndsAtMs: number | null,
  endsAtMs: number,
): AfterLicence | undefined {
  if (plan === "licensed") return undefined;
  if (plan === "hobby" || settings().billing?.lapsedPlan === "hobby") return "hobby";
  return (trialEndsAtMs ?? 0) > endsAtMs ? "trial" : "nothing";
}

/** What an account has once its licence has ended: nothing, the hobby plan, or the rest of its trial. */
type AfterLicence = "nothing" | "hobby" | "trial";

const goesOn: Record<Exclude<AfterLicence, "nothing">, string> = {
  hobby: "Your company goes on with the free hobby plan, with fewer assistants.",
  trial: "Your company goes on with the rest of your trial.",
};

const failedRenewal = {
  subject: (ofSum: string) => `Your payment${ofSum} failed`,
  meanwhile: "Your assistants go on working meanwhile.",
  press: payOrChange,
};

/** By the reason for which a subscription is past due. */
const failures: Record<string, typeof failedRenewal> = {
  change: {
    ...failedRenewal,
    subject: (ofSum) => `The payment${ofSum} for your change failed`,
    meanwhile: "You have what you had before, and your assistants go on working meanwhile.",
  },
  invoice: {
    ...failedRenewal,
    subject: (ofSum) => `Your invoice${ofSum} is overdue`,
  },
  trial: {
    subject: () => "The free trial of your plan has ended",
    meanwhile: "No card has paid the first invoice yet. Your assistants go on working meanwhile.",
    press: "Add a card",
  },
};

const again = { words: "", press: choosePlan, cost: "Nothing" };

/** What to do after a licence, by how it ended, and what the button says. */
const whatNext: Record<LicenceEnd, typeof again> = {
  ended: { ...again, cost: "Nothing. It is not charged again" },
  unfinished: again,
  "at bank": again,
  "trial over": { ...again, cost: "Nothing. You were not charged" },
  unpaid: {
    words: "Your payment failed. Your plan goes on as soon as the last invoice is paid.",
    press: payOrChange,
    cost: "The last invoice",
  },
  "late at bank": {
    words:
      "Your bank was asked for the payment, and has not paid yet. Do not pay it again: your plan goes on as soon as it has.",
    press: "See your plan",
    cost: "nothing more than what your bank was asked for.",
  },
  returned: {
    words:
      "Your last payment went back to you, by a refund or by your bank. Pay again to go on with the plan, or cancel it at Stripe, where it still renews.",
    press: "Pay again or cancel",
    cost: "Nothing, unless you pay again",
  },
  paused: {
    words: "The plan is paused. You can go on with it, or choose another.",
    press: "See your plan",
    cost: "Nothing while it is paused",
  },
};
