import { termsOfPlan } from "@/lib/accounts/accounts";
import type { AccountTerms } from "@/lib/accounts/terms/gift";
import { defaultTrialDays } from "@/lib/accounts/terms/trial";
import { type ActField, type Fields, option } from "@/lib/admin/act";
import {
  collectLimitOr,
  collectSlug,
  limitsInWords,
  parseBalance,
  parseEnd,
  parseInstant,
  parser,
  parseSlug,
  parseSubject,
  parseWholeNumber,
  toLines,
} from "@/lib/admin/arguments";
import { minuteInWords, toMinute } from "@/lib/config/instants";
import { ownFeaturesOf, ownLimitsOf, type Plans, slug } from "@/lib/plans/plan";
import { differs, type Gift, type Given } from "@/lib/plans/terms";

/** The terms of an account as an operator gives them: its plan by the name. */
export type TypedTerms = Omit<AccountTerms, "plan" | "given_plan"> & { plan?: string | undefined };

type TermFields = { [Name in keyof TypedTerms]?: ActField<Exclude<TypedTerms[Name], undefined>> };

/** The terms of someone who has no account yet. */
export const invitedFields = {
  plan: {
    ...option("--plan <plan>", "the plan: one of 'plan list'", parseSlug),
    label: "Plan",
    read: parser((name) => slug.safeParse(name).data, "Choose a plan."),
  },
  trial_ends_at_ms: {
    ...option("--trial-ends <instant>", "when the trial ends", parseInstant),
    label: "Trial ends (UTC)",
    as: "time",
  },
  trial_days: {
    option: "--trial-days <days>",
    words: `the length of the trial in days (default: ${defaultTrialDays})`,
    parse: parseWholeNumber,
    conflicts: "trialEnds",
  },
  assistant_limit: {
    option: "--assistant-limit <n>",
    words: "the maximum number of assistants, or none",
    parse: (text) => (text === "none" ? null : parseWholeNumber(text)),
    label: "Assistants at most",
    as: "number",
    none: null,
    subject: "The limit of assistants",
  },
  credit_thousandths: option("--credits <n>", "the balance", parseBalance),
} satisfies TermFields;

/** The terms of an account. */
export const accountFields = {
  ...invitedFields,
  own_features: {
    ...option("--feature <name>", "all that it has beyond its plan, one each, or none", collectSlug),
    label: "Features beyond the plan",
    as: "lines",
    none: [],
  },
  own_limits: {
    option: "--limit <name=n>",
    words: "a limit in place of its plan's: a whole number, none, or plan for the plan's again",
    parse: collectLimitOr("plan"),
    label: "Limits, like projects = 20",
    as: "lines",
    none: {},
  },
  given_ends_at_ms: {
    option: "--until <day>",
    words: "the last day (UTC) of what you give, or an instant; none for no end; alone, of all that you gave",
    parse: parseEnd,
    label: "Given until (UTC), for good if empty",
    as: "time",
    none: null,
  },
  subject: option("--subject <id>", "the user id at Clerk", parseSubject),
} satisfies TermFields;

/** The terms by the columns of an account. */
export const toTerms = ({ plan, ...terms }: TypedTerms): AccountTerms => ({
  ...(plan !== undefined && termsOfPlan(plan)),
  ...terms,
});

/** What an operator gives an account, as the fields of its form show it, and whose it is. */
export const accountFormFields = (
  given: Given & { id: string; given_ends_at_ms: number | null },
): Fields => ({
  id: given.id,
  plan: given.given_plan ?? given.plan,
  trial_ends_at_ms: toMinute(given.trial_ends_at_ms),
  assistant_limit: String(given.assistant_limit ?? ""),
  own_features: ownFeaturesOf(given).join("\n"),
  own_limits: toLines(ownLimitsOf(given)),
  given_ends_at_ms: toMinute(given.given_ends_at_ms),
});

/** A plan as it is given, and for how long: `Licence, for good` or `Studio, until 31 Jan 2027, 00:00 UTC, then Hobby`. */
export function planAndEnd({ given, end }: Gift, plans: Plans, nowMs: number): string {
  const titleIn = ({ given_plan, plan }: Given) => plans.get(given_plan ?? plan)?.title ?? given_plan ?? plan;
  const title = titleIn(given);
  if (given.plan === "trial") {
    const endsAtMs = given.trial_ends_at_ms ?? 0;
    return `${title}, ${endsAtMs <= nowMs ? "ended" : "until"} ${minuteInWords(endsAtMs)}`;
  }
  const lasts = end && differs(given, pickPlan(end.given));
  return lasts
    ? `${title}, until ${minuteInWords(end.atMs)}, then ${titleIn(end.given)}`
    : `${title}, for good`;
}

const pickPlan = ({ plan, given_plan }: Given) => ({ plan, given_plan });

/** What an operator gives an account, in words. */
export function giftInWords(gift: Gift, plans: Plans, nowMs: number): Fields {
  const { given, end } = gift;
  return {
    Plan: planAndEnd(gift, plans, nowMs),
    "Assistants at most": given.assistant_limit === null ? "as in the plan" : String(given.assistant_limit),
    "Features beyond the plan": ownFeaturesOf(given).join(", ") || "none",
    "Limits in place of the plan’s": limitsInWords(ownLimitsOf(given)) || "none",
    "Given until": end ? minuteInWords(end.atMs) : "no end",
  };
}
