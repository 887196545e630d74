import type { z } from "zod";
import { askUs } from "@/lib/config/contact";
import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { aheadOfUtc } from "@/lib/config/time-zone";
import { errorCatalogue } from "@/lib/http/errors";
import type { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";

/*
 * How each state of an account is said: on the owner's pages, to apps and in mail.
 */

/** How a licence from Stripe ended, or why there is none yet. */
export type LicenceEnd =
  | "ended"
  | "unpaid"
  | "late at bank"
  | "returned"
  | "paused"
  | "trial over"
  | NotBegun;

/** What a licence is whose first payment is `unfinished`, or which a bank is asked for and has not made. */
type NotBegun = "unfinished" | "at bank";

/**
 * How a licence from Stripe goes on, or how it ended. It is `free` on Stripe's own trial, `unknown` to Stripe with another
 * key, and `pausing` until the end of what was paid.
 */
export type LicenceState =
  | "renews"
  | "free"
  | "not collected"
  | "invoiced"
  | "cancelled"
  | "pausing"
  | "unknown"
  | "due beside a gift"
  | DueState
  | LicenceEnd;

/** A licence that runs although it is not paid: it ends if it stays so, also if a bank is `paying` it yet. */
export type DueState = "past due" | "paying" | "overdue" | "change unpaid" | "trial unpaid";

const due: readonly string[] = [
  "past due",
  "paying",
  "overdue",
  "change unpaid",
  "trial unpaid",
] satisfies DueState[];

export const isNotBegun = (licence: LicenceState): licence is NotBegun =>
  licence === "unfinished" || licence === "at bank";

export const isDue = (licence: LicenceState): licence is DueState => due.includes(licence);

/** What ended last: the trial, perhaps beside a licence that has not begun, or after it a licence. */
export type AccountEnd =
  | { what: "trial"; atMs?: number; beside?: NotBegun }
  | { what: "licence"; atMs: number; how: LicenceEnd };

/** The words of a state on the owner's pages. */
export type StateWords = {
  /** The plan, or what is the matter with it. */
  tag: string;
  heading: string;
  /** What to do next; after a refusal, the hint that an app gets with it. */
  next: string;
  /** The page on which to do it. */
  step?: { words: string; path: string } | undefined;
  /** What may be done in its place. */
  other?: { words: string; path: string } | undefined;
  /** Whether it is for us to do. */
  isForUs?: true | undefined;
};

/** What the API answers someone who is signed in. */
export type Status =
  | z.infer<typeof operations.entitlement.answer>["status"]
  | Exclude<z.infer<typeof operations.entitlement.denial>["status"], "signed-out">;

const long = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });

/** The day of an instant in a zone, without one in UTC. */
const dayOf = (atMs: number, zone: string | null | undefined, format = long) =>
  format.format(atMs + (aheadOfUtc(zone, atMs) ?? 0));

const withoutYearMs = 300 * dayMs;

/** The step of an owner without a licence: to choose one. */
export const choosePlan = "Choose a plan";

const stepTo = (words: string, path: string = pages.billing.path) => ({ step: { words, path } });
const choose = () => settings().billing && stepTo(choosePlan);

/** What an owner reads in place of the step to choose a plan, where none is sold. */
export const notSold = (mayRun: boolean): Pick<StateWords, "next" | "step"> => ({
  next: `${mayRun ? "Your trial is free." : "Your assistants are paused, and nothing is lost."} Plans aren’t sold on this site: for one, ${askUs()}.`,
  step: undefined,
});

/** What the words of a state are made of. */
type Facts = {
  status: Status;
  licence: LicenceState | undefined;
  /** What ended, if the company may not run for it. */
  end: AccountEnd;
  /** The day that counts: by which the licence is paid, or on which it, the trial or a gift ends. */
  untilMs: number | null;
  nowMs: number;
  /** Days are those of this zone, or of UTC. */
  zone: string | null | undefined;
};

/** The words of a state on the owner's pages. */
export function wordsOf({ status, licence, end, untilMs, nowMs, zone }: Facts): StateWords {
  if (status === "trial-ended") {
    const { tag, heading, hint, step } = endWords(end, zone);
    const other =
      end.what === "trial" && !end.beside && licence && isEnd(licence) ? ends[licence] : undefined;
    if (other?.beside) return { tag, heading, next: other.beside, ...other.step };
    return { tag, heading, next: hint(), ...(settings().billing && step) };
  }
  const format = (untilMs ?? nowMs) - nowMs <= withoutYearMs ? short : long;
  const day = untilMs === null ? undefined : dayOf(untilMs, zone, format);
  const words = states[status](day);
  if (!licence || !["licensed", "trial", "hobby"].includes(status)) return words;
  if (!isEnd(licence)) {
    const { dated, ...going } = goingOn()[licence];
    return { ...words, ...going, ...(dated && day && { heading: `${dated} ${day}` }) };
  }
  const { beside, step } = ends[licence];
  return beside ? { ...words, next: beside, ...step } : words;
}

const isEnd = (licence: LicenceState): licence is LicenceEnd => Object.hasOwn(ends, licence);

/** What a mail says to press as well. */
export const payOrChange = "Pay or change the card";
export const payAgain = "Pay again";
const finishPayment = "Finish the payment";

/** What a button says that pays: with the sum, where that is known. */
export const withSum = (words: string, due: string | undefined) =>
  due === undefined
    ? words
    : words.replace(payOrChange, `Pay ${due}`).replace(finishPayment, `Finish paying ${due}`);

const updatePayment = stepTo(payOrChange);

const plansOnBilling = `${pages.billing.path}#plans`;

const instead = (words: string, path: string = pages.billing.path) => ({ other: { words, path } });

const cancelAtStripe = instead("Cancel it at Stripe");

/** By our refund or a dispute: Stripe is told of both alike. */
const wasReturned = "Your last payment went back to you, by a refund or by your bank.";

const waitForBank = "It may take two weeks: do not buy it again.";
const doNotPayAgain = "It may take two weeks: do not pay it again.";

/** Where we can be written to. */
const askToDropTheChange = () => {
  const { supportEmail } = settings();
  const subject = encodeURIComponent("Corner Office: drop the change of my plan");
  return supportEmail
    ? instead("Ask us to drop the change", `mailto:${supportEmail}?subject=${subject}`)
    : {};
};

/** A heading that a day completes. */
type Dated = { dated?: string };

/** What a licence that runs asks for, and how it is called. */
const goingOn = (): Record<Exclude<LicenceState, LicenceEnd>, Partial<StateWords> & Dated> => ({
  renews: {},
  free: { tag: "Free trial of a plan", dated: "Your plan is free until" },
  "not collected": {
    tag: "Payments paused",
    heading: "Your plan is active, and its payments are paused",
    next: `Your payments are paused at Stripe. Until they are resumed, you are charged nothing and your assistants work. To know why, and until when, ${askUs()}.`,
  },
  invoiced: {
    dated: "Invoice due: pay it by",
    next: "Your invoice came by mail. Pay by its due date.",
    ...updatePayment,
  },
  cancelled: {
    tag: "Cancelled",
    dated: "Cancelled: your plan ends on",
    next: "Your assistants work until that day. Keep the plan to go on.",
    ...stepTo("Keep the plan"),
  },
  pausing: {
    tag: "Pauses soon",
    dated: "Your plan pauses on",
    next: `Your plan is paused at Stripe, from the day on which the time you paid for ends. Your assistants work until then, and nothing is charged. If you paused it, resume it there; if not, ${askUs()}.`,
    isForUs: true,
  },
  unknown: {
    tag: "Plan unknown",
    dated: "Not known to Stripe: your plan ends on",
    next: `Stripe does not know your plan any more. That is not your doing: ${askUs()} before it ends.`,
    isForUs: true,
  },
  "past due": {
    dated: "Payment failed: your assistants stop on",
    next: "Your assistants still run; paying keeps them running. At Stripe you pay the invoice, change the card, or cancel the plan.",
    ...updatePayment,
  },
  paying: {
    tag: "At your bank",
    dated: "Your bank is paying. Until it has, your assistants work to",
    next: `Your bank was asked for the payment. ${doNotPayAgain}`,
  },
  overdue: {
    tag: "Invoice overdue",
    dated: "Invoice overdue: pay it by",
    next: "Your assistants work until that day. You pay it at Stripe.",
    ...updatePayment,
  },
  "change unpaid": {
    tag: "Change not paid",
    dated: "Change not paid: your assistants stop on",
    next: `You still have the plan that you had before. Pay for the change, or ask us to drop it: you then pay nothing for it.${settings().supportEmail ? "" : ` To drop it, ${askUs()}.`}`,
    ...updatePayment,
    ...askToDropTheChange(),
  },
  "trial unpaid": {
    dated: "Free trial over: add a card by",
    next: "No card has paid what follows it. Your assistants work until that day.",
    ...stepTo("Add a card"),
  },
  "due beside a gift": {
    heading: "Your plan is active, and one that you bought is not paid",
    next: "We gave you a plan, so your assistants work. The one you bought is not paid: pay the invoice, or cancel it.",
    ...updatePayment,
  },
});

type EndWords = {
  /** What happened, where the heading does not say it. */
  why?: string;
  /** What is said of it while the company runs by another plan. */
  beside?: string;
  hint: (where: string) => string;
  step: ReturnType<typeof stepTo> & Pick<StateWords, "other">;
};

const anew: EndWords = {
  // Where none is sold, the page at the address says whom to ask.
  hint: (where) => `Get a plan${where}; they run again as soon as you have one.`,
  step: stepTo(choosePlan),
};

/** What an owner does about a licence that has ended, or has not begun. */
const ends: Record<LicenceEnd, EndWords> = {
  ended: anew,
  "trial over": anew,
  unpaid: {
    beside: "The plan that you bought is not paid. Pay the invoice to go on with it.",
    hint: (where) =>
      `Pay the last invoice${where}, and they run again at once. If you no longer want the plan, cancel it at Stripe.`,
    step: { ...updatePayment, ...cancelAtStripe },
  },
  unfinished: {
    beside:
      "Your first payment for a plan did not go through: your card was declined, or your bank asks you to confirm it. Finish it, or choose another plan.",
    hint: (where) =>
      `Your first payment did not go through: your card was declined, or your bank asks you to confirm it. Finish it${where}, or choose another plan: then this payment is dropped.`,
    step: { ...stepTo(finishPayment), ...instead("Choose another plan", plansOnBilling) },
  },
  "at bank": {
    beside: `The plan that you bought begins when your bank has paid. ${waitForBank}`,
    hint: () => `They run again as soon as your bank has paid. ${waitForBank}`,
    step: stepTo("See your plan"),
  },
  "late at bank": {
    beside: `The plan that you bought goes on when your bank has paid. ${doNotPayAgain}`,
    hint: () => `They run again as soon as your bank has paid. ${doNotPayAgain}`,
    step: stepTo("See your plan"),
  },
  returned: {
    beside: `${wasReturned} Pay again to go on with your plan, or cancel it at Stripe, where it still renews.`,
    why: wasReturned,
    hint: (where) =>
      `Pay again${where}, and they run again at once: the old plan ends first, so you never pay for two. If you no longer want it, cancel it at Stripe, where it still renews.`,
    step: { ...stepTo(payAgain, plansOnBilling), ...cancelAtStripe },
  },
  paused: {
    beside: "The plan that you bought is paused.",
    hint: (where) =>
      `Your plan is paused at Stripe. If you paused it, resume it there; if not, ${askUs()}. Or choose another one${where}.`,
    step: stepTo(choosePlan),
  },
};

const active = "Your plan is active";

/** What is said of a licence whose plan is not named. */
export const licensedTag = "Licensed";

/** With the day on which it ends, if it does. */
const states: Record<Exclude<Status, "trial-ended">, (day: string | undefined) => StateWords> = {
  licensed: (day) => ({
    tag: licensedTag,
    heading: day ? `${active} until ${day}` : active,
    next: "Open your apps: your assistants are ready for work.",
  }),
  trial: (day) => ({
    tag: "Trial",
    heading: day ? `Your trial ends on ${day}` : "Your trial is active",
    next: settings().billing
      ? "Buy a plan to go on. The plan starts, and is charged, when you buy it."
      : `Your trial is free. For a plan, ${askUs()} before it ends.`,
    ...choose(),
  }),
  hobby: () => ({
    tag: "Hobby",
    heading: active,
    next: "Open your apps: your assistants are ready for work.",
  }),
  invalid: () => ({
    tag: "Account not readable",
    heading: "We cannot read your account",
    next: errorCatalogue.forbidden.hint,
  }),
  unconfigured: () => ({
    tag: "Not set up",
    heading: "Sign-in is not set up",
    next: errorCatalogue.not_configured.hint,
  }),
  unavailable: () => ({
    tag: "Not checked",
    heading: "We cannot check your account at the moment",
    next: "You are signed in, and nothing is lost. Your apps go on with their last answer. Try again in a moment.",
  }),
};

/**
 * The words of a company that may not run, because its trial or its licence ended: on a page, in mail and to an app. Where
 * licences are sold, the hint takes the address at which to act, for readers who are not there. Days are those of `zone`, or of
 * UTC.
 */
export function endWords(end: AccountEnd, zone?: string | null) {
  const { why, hint, step } = ends[end.what === "licence" ? end.how : (end.beside ?? "ended")];
  const act = {
    hint: (where = "") =>
      settings().billing
        ? [why, "Your assistants are paused, and nothing is lost.", hint(where)].filter(Boolean).join(" ")
        : errorCatalogue.trial_ended.hint,
    step,
  };
  if (end.what === "trial") {
    const { message } = errorCatalogue.trial_ended;
    const [tag, words] = notBegun[end.beside ?? "trial"];
    const heading = end.atMs && !end.beside ? `Your trial ended on ${dayOf(end.atMs, zone)}` : words;
    return { tag, heading, message, ...act };
  }
  const { how, atMs } = end;
  const what = how === "trial over" ? "free trial" : "plan";
  const day = dayOf(atMs, zone);
  const happened = `${how === "paused" ? "was paused" : "ended"} on ${day}`;
  const tags: Partial<Record<LicenceEnd, string>> = {
    paused: "Plan paused",
    "trial over": "Free trial ended",
    unpaid: "Not paid",
    "late at bank": "Waiting for your bank",
    returned: "Payment returned",
  };
  return {
    tag: tags[how] ?? "Plan ended",
    heading:
      how === "unpaid" || how === "late at bank" || how === "returned"
        ? `${tags[how]}: your assistants stopped on ${day}`
        : `Your ${what} ${happened}`,
    message: `The ${what} of this account ${happened}.`,
    ...act,
  };
}

/** The tag and the heading of a trial that has ended, also beside a licence that has not begun. */
const notBegun: Record<NotBegun | "trial", [tag: string, heading: string]> = {
  trial: ["Trial ended", "Your trial has ended"],
  unfinished: ["Not paid yet", "Your payment is not finished"],
  "at bank": ["At your bank", "Your bank is paying for your plan"],
};

/** The words of an account that its owner deletes. */
export const leavingWords = (deletesAtMs: number, zone: string | null) => ({
  heading: `Your account will be deleted on ${dayOf(deletesAtMs, zone, short)}`,
  next: "You asked for that. Until then nothing changes; afterwards nothing can be brought back.",
  step: { words: "Keep my account", path: `${pages.account.path}#leave` },
});

/** What an end does to a company, as mails say it before and at the end. */
export const endEffects = {
  soon: "Your assistants pause then: your apps notice at their next check.",
  now: "Your assistants pause: your apps notice at their next check.",
  nothingLost: "Nothing is lost: your account and credits stay, and you can still sign in.",
};
