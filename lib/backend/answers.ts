import * as z from "zod";
import type { BackendName } from "@/lib/backend/addresses";
import { eventTypeNames } from "@/lib/events/event";
import { operations } from "@/lib/http/register/operations";

/* What the backend API answers. Each `id` is the name of an object in its document and its description. */

const id = z.string();
const credits = z.number().describe("In credits, with at most three decimals; below 0 if they were spent.");
const balance = z
  .number()
  .min(0)
  .describe("What the account can spend now: its entries without what is held.");
const instant = z.iso.datetime();
const { plan: planName, features, limits } = operations.entitlement.answer.shape;

/** A page of a list: `says` what `next` is the `after` of. */
const page = <Name extends string, Item extends z.ZodType>(name: Name, item: Item, says: string) =>
  z.object({
    ...({ [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>),
    next: z.string().nullable().describe(`The \`after\` of ${says}`),
  });
const ofNextPage = "the next page; null at the end.";

export const entry = z
  .object({ id, account: id, credits, createdAt: instant, balance })
  .meta({ id: "Entry" });

export const hold = z
  .object({
    id,
    account: id,
    credits: z.number().describe("What it held at first; the entry says what was spent of it."),
    state: z.enum(["open", "settled", "released"]),
    entry: id.nullable().describe("The entry that settled it; null if that spent nothing."),
    createdAt: instant,
    expiresAt: instant.describe("From then on it holds nothing."),
    balance,
  })
  .meta({ id: "Hold" });

export const account = z
  .object({
    id,
    email: z.string(),
    reference: z.string().nullable().describe("Your own name for it."),
    status: z.string().describe("That of `GET /api/entitlement`."),
    trialEndsAt: instant.nullable(),
    assistantLimit: z.int().min(0).nullable(),
    plan: planName,
    features,
    limits,
    ownFeatures: z
      .array(z.string())
      .nullable()
      .describe("Those of them that an operator gives beyond the plan."),
    ownLimits: limits.nullable().describe("Those that an operator gives in place of the plan's."),
    givenEndsAt: instant
      .nullable()
      .describe(
        "When what an operator gives ends: the plan, or what is beyond it. Then the account has another.",
      ),
    balance,
    held: z.number().describe("What open holds hold."),
    createdAt: instant,
  })
  .meta({ id: "Account" });

export const plan = z
  .object({
    name: z.string().describe("The `plan` of an account; it never changes."),
    title: z.string().describe("What people call it."),
    description: z.string().describe("A line for people, or empty."),
    features,
    featureTitles: z
      .record(z.string(), z.string())
      .describe("What people call the features, by their names."),
    limits,
    creditsAMonth: z.number().min(0).describe("Credits that it gives each month."),
    isOffered: z.boolean().describe("False: only who has it keeps it."),
  })
  .meta({ id: "Plan" });

export const listedEntry = z
  .object({
    id,
    account: id,
    credits,
    reason: z.string(),
    reference: z.string().nullable(),
    backend: z.string().nullable().describe("Which backend wrote it; null if none did."),
    hold: id.nullable().describe("The hold that it settled."),
    reverses: id.nullable().describe("The entry that it gives back, or a part of it."),
    createdAt: instant,
  })
  .meta({ id: "ListedEntry" });

export const event = z
  .object({
    id: id.describe("The `webhook-id` of its webhooks."),
    type: z.enum(eventTypeNames),
    timestamp: instant,
    data: z
      .looseObject({ account: id, number: z.int().describe("Its place among the events of the account.") })
      .describe("What else it has depends on `type`."),
  })
  .meta({ id: "Event" });

/** What a refusal says. The figures are there where its code's section says so. */
export const refused = z
  .object({
    error: z.object({ code: z.string(), message: z.string(), hint: z.string(), docs: z.url() }),
    balance: balance.optional(),
    limit: z.number().optional().describe("What the owner lets a month spend."),
    left: z.number().optional().describe("What that allows yet."),
    resetsAt: instant.optional().describe("When the next month begins."),
    index: z.int().min(0).optional().describe("The place in the batch."),
    state: z.string().optional().describe("What the hold is: `settled`, `released` or `expired`."),
    reversible: z.number().optional().describe("What of the entry can be given back."),
    ok: z.literal(false).optional().describe("In a check: the owner may not run."),
    status: z.string().optional().describe("In a check: that of `GET /api/entitlement`."),
    message: z.string().optional().describe("In a check: why not, for the owner."),
  })
  .meta({ id: "Refused" });

const check = z
  .object({ ...operations.entitlement.answer.shape, entry: entry.optional(), hold: hold.optional() })
  .meta({ id: "Check" });

/** What each address of the backend API answers with 200, and any with another status. */
export const answers = {
  account,
  accounts: page("accounts", account, ofNextPage).meta({ id: "AccountList" }),
  accountEntries: page("entries", listedEntry, "what follows, also later; null if there is no entry at all.")
    .extend({ balance })
    .meta({ id: "AccountEntries" }),
  entries: page("entries", listedEntry, "what follows, also later.").meta({ id: "AllEntries" }),
  events: page("events", event, "what follows, also later; null if there is none at all.").meta({
    id: "EventList",
  }),
  plans: page("plans", plan, ofNextPage).meta({ id: "PlanList" }),
  checks: check,
  spends: entry,
  holds: hold,
  reference: account,
  settle: hold,
  release: hold,
  reverse: entry,
  batches: z
    .object({
      results: z.array(z.union([entry, refused])).describe("What came of each spend, in its place."),
    })
    .meta({ id: "BatchResults" }),
  refused,
} satisfies Record<BackendName | "refused", z.ZodType>;
