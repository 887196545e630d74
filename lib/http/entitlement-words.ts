import type { z } from "zod";
import { askUs } from "@/lib/config/contact";
import { settings } from "@/lib/config/settings";
import { errorCatalogue } from "@/lib/http/errors";
import { pages } from "@/lib/http/pages";
import type { entitlementAllowed, entitlementDenied } from "@/lib/http/schemas";

/*
 * How each state of an account is said: on the owner's pages, to apps and in mail.
 */

/** How a licence from Stripe goes on. Without a payment, a past due one ends, and an unpaid one has ended. */
export type LicenceState = "renews" | "cancelled" | "past due" | "unpaid" | "ended";

/** What ended last: the trial, or after it a licence, which may have been left unpaid. */
export type AccountEnd = { what: "trial" } | { what: "licence"; atMs: number; isUnpaid: boolean };

/** The words of a state on the owner's pages. */
export type StateWords = {
  /** The plan, or what is the matter with it. */
  tag: string;
  heading: string;
  /** What to do next; after a refusal, the hint that an app gets with it. */
  next: string;
  /** The page on which to do it. */
  step?: { words: string; path: string };
};

/** What the API answers someone who is signed in. */
export type Status =
  | z.infer<typeof entitlementAllowed>["status"]
  | Exclude<z.infer<typeof entitlementDenied>["status"], "signed-out">;

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

const runs = "Your company may run";
const stepTo = (words: string) => ({ step: { words, path: pages.billing.path } });
const choose = () => settings().billing && stepTo("Choose a licence");

/** The words of a state on the owner's pages; `end` is what ended, if the company may not run for it. */
export function wordsOf(status: Status, licence: LicenceState | undefined, end: AccountEnd): StateWords {
  if (status === "trial-ended") {
    const { tag, heading, hint } = endWords(end);
    const step = end.what === "licence" && end.isUnpaid ? stepTo("Pay it") : choose();
    return { tag, heading, next: hint(), ...step };
  }
  if (licence === "past due" || licence === "unpaid") return pastDue;
  return licence === "cancelled" && status === "licensed" ? cancelled : states[status]();
}

const pastDue: StateWords = {
  tag: "Past due",
  heading: runs,
  next: "Your last payment failed. Pay it, or change the card, so that your company keeps running.",
  ...stepTo("Pay it"),
};

const cancelled: StateWords = {
  tag: "Cancelled",
  heading: runs,
  next: "You cancelled your licence, and can take that back.",
  ...stepTo("Keep the licence"),
};

const states: Record<Exclude<Status, "trial-ended">, () => StateWords> = {
  licensed: () => ({
    tag: "Licensed",
    heading: runs,
    next: "Open your apps: your assistants are ready for work.",
  }),
  trial: () => ({
    tag: "Trial",
    heading: runs,
    next: settings().billing
      ? "Your trial is free. Choose a licence before it ends."
      : `Your trial is free. For a plan, ${askUs()} before it ends.`,
    ...choose(),
  }),
  hobby: () => ({
    tag: "Hobby",
    heading: runs,
    next: "You are on the free hobby plan. It does not end; a licence lets you hire more assistants.",
    ...choose(),
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
    next: "You are signed in, and nothing is lost. Try again in a moment.",
  }),
};

/** The words of a company that may not run, because its trial or its licence ended: on a page, in mail and to an app. */
export function endWords(end: AccountEnd) {
  if (end.what === "trial")
    return {
      tag: "Trial ended",
      heading: "Your trial has ended",
      message: errorCatalogue.trial_ended.message,
      hint: (where = "") => hintAfter("choose", where),
    };
  const ended = `ended on ${day.format(end.atMs)}`;
  return {
    tag: "Licence ended",
    heading: `Your licence ${ended}`,
    message: `The licence of this account ${ended}.`,
    hint: (where = "") => hintAfter(end.isUnpaid ? "pay" : "choose", where),
  };
}

/**
 * What to do when a company may not run. Where licences are sold, the owner buys one.
 *
 * @param where - at which address, for readers who are not there
 */
function hintAfter(act: "choose" | "pay", where: string): string {
  if (!settings().billing) return errorCatalogue.trial_ended.hint;
  return act === "pay"
    ? `Your assistants are paused, and nothing is lost. Pay the last invoice${where}; they run again as soon as it is paid.`
    : `Your assistants are paused, and nothing is lost. Choose a licence${where}; they run again as soon as you have one.`;
}

/** What an end does to a company, as mails say it before and at the end. */
export const endEffects = {
  soon: "From then on your company may not run: your apps notice at their next check, and your assistants pause.",
  now: "Your company may not run now: your apps notice at their next check, and your assistants pause.",
  nothingLost: "Nothing is lost: your account and your credits stay as they are, and you can still sign in.",
};
