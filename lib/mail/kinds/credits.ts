import * as z from "zod";
import { dayMs } from "@/lib/config/durations";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";
import { ownerPages } from "@/lib/http/register/pages";
import { mailAbout } from "@/lib/mail/kind";
import { formatInstant, linkTo } from "@/lib/mail/mail-content";
import { currencyOf, packInWords, packsInWords, type ReadPrice } from "@/lib/mail/prices";

/** Why automatic purchases were turned off. */
export const stopReasons = ["declined", "confirmation", "no card", "returned", "refused"] as const;
export type StopReason = (typeof stopReasons)[number];

/** The credits that were left, and the threshold, in thousandths. */
const low = z.object({ accountId: z.string(), below: z.int(), left: z.int(), atMs: z.int() });

const stopped = z.object({
  accountId: z.string(),
  why: z.enum(stopReasons),
  /** The id under which the log says why Stripe refused it. */
  purchase: z.string().optional(),
  atMs: z.int().optional(),
  /** What was to be bought, as “500 credits for €10”. */
  pack: z.string().optional(),
});

/** What more credits cost, where they are sold to the account and Stripe says so. */
const costOf = (packs: string | undefined) => ({
  Cost: packs ? "Nothing, unless you buy more" : "Nothing",
  More: packs,
});

/** The button of a mail about credits. */
const toCredits = (packs: string | undefined) =>
  linkTo(ownerPages.billing, packs ? "Buy credits" : "See your credits", "optional");

/** Whether packs are sold to an account: to those with a paid plan that stay. */
const areSoldTo = ({ plan, deletes_at_ms }: Owner) => plan === "licensed" && deletes_at_ms === null;

/** The packs that are sold to an account. */
const packsFor = (owner: Owner, readPrice: ReadPrice, nowMs: number) =>
  areSoldTo(owner) ? packsInWords({ currency: owner.currency, readPrice, nowMs }) : undefined;

type Owner = Awaited<ReturnType<ReturnType<typeof limitsOf>["executeTakeFirstOrThrow"]>>;

export const creditMails = {
  /** Credits have fallen below what their owner wants to hear of, if they still do. */
  "low credits": mailAbout(low, {
    isScheduled: true,
    triedForMs: 2 * dayMs,
    async find(db, { accountId, ...mail }, nowMs, readPrice) {
      const limits = limitsOf(db, accountId).where("mail_below_thousandths", "is not", null);
      const owner = await limits.executeTakeFirst();
      if (!owner) return undefined;
      const { top_up_price, top_up_below_thousandths: buysBelow, currency } = owner;
      const automatic =
        areSoldTo(owner) && top_up_price !== null && mail.left < (buysBelow ?? 0)
          ? ((await packInWords(top_up_price, { currency, readPrice, nowMs })) ?? "A pack of credits")
          : undefined;
      const packs = automatic ? undefined : await packsFor(owner, readPrice, nowMs);
      return { ...mail, to: owner.to, automatic, packs };
    },
    examples: (atMs) => ({
      "low-credits": {
        below: 20_000,
        left: 19_875,
        atMs,
        automatic: undefined,
        packs: "500 credits for €10",
      },
    }),
    text(mail, zone) {
      const [below, left] = [inCredits(mail.below), inCredits(mail.left)];
      return {
        subject: `You have fewer than ${below} credits`,
        preview: `${left} were left.`,
        body: [
          "Work that costs more credits than you have is refused until you have more; everything else runs.",
          {
            facts: {
              Left: `${left} credits`,
              When: formatInstant(mail.atMs, zone),
              ...costOf(mail.packs),
              ...(mail.automatic && {
                Cost: `${mail.automatic}, bought automatically unless this month has had as many as you allow`,
              }),
            },
          },
          toCredits(mail.packs),
        ],
        footer: [
          "You received this email because you asked for it under “Billing”. It comes once each time your credits fall below what you set there, and there you can stop it.",
        ],
      };
    },
  }),
  /** Automatic purchases of credits were turned off because one failed, unless their owner has turned them on again. */
  "automatic purchase stopped": mailAbout(stopped, {
    isScheduled: true,
    triedForMs: 2 * dayMs,
    async find(db, { accountId, ...mail }, nowMs, readPrice) {
      const owner = await limitsOf(db, accountId).where("top_up_stopped", "=", mail.why).executeTakeFirst();
      if (!owner) return undefined;
      const packs = await packsFor(owner, readPrice, nowMs);
      return { ...mail, to: owner.to, left: owner.credit_thousandths - owner.held_thousandths, packs };
    },
    examples(atMs) {
      const pack = "500 credits for €10";
      return {
        "automatic-purchase-stopped": { why: "confirmation" as const, atMs, pack, left: 12_500, packs: pack },
      };
    },
    text: ({ why, purchase, atMs, pack, left, packs }, zone) => ({
      subject: "Automatic purchases of credits are off",
      preview: whyStopped[why],
      body: [
        `${whyStopped[why]} We try no further payment.`,
        {
          facts: {
            Left: `${inCredits(left)} credits`,
            "Not bought": pack,
            Stopped: atMs ? formatInstant(atMs, zone) : undefined,
            Reference: why === "refused" ? purchase : undefined,
            ...costOf(packs),
            ...(packs === pack && { More: undefined }), // which is said already
          },
        },
        "Work that costs more credits than you have is refused. You can buy credits yourself, change your card, and turn automatic purchases on again.",
        toCredits(packs),
      ],
    }),
  }),
};

const limitsOf = (db: Db, accountId: string) =>
  accountBy(db, "id", accountId)
    .innerJoin("credit_limits", "account_id", "id")
    .select(["email as to", "plan", "deletes_at_ms", "credit_thousandths", "held_thousandths", currencyOf])
    .select(["top_up_price", "top_up_below_thousandths"])
    .where("subject", "is not", null);

/** With one decimal at most, and never more than there are: three decimals read as thousands in much of the world. */
export const inCredits = (thousandths: number) =>
  (thousandths / 1000).toLocaleString("en", { maximumFractionDigits: 1, roundingMode: "floor" });

/** Why automatic purchases are off, for the mail and the page. */
export const whyStopped: Record<StopReason, string> = {
  declined: "Your card was declined, and you were not charged.",
  confirmation:
    "Your bank wants you to confirm each payment, which cannot be done while you are away. You were not charged.",
  "no card": "There is no card that can be charged while you are away.",
  returned: "A payment for credits was returned or disputed.",
  refused: "Stripe did not take the payment, and you were not charged.",
};
