import * as z from "zod";
import { plans } from "@/lib/accounts/account";
import { eventTypeNames } from "@/lib/events/event";

const id = z.string();
const credits = z.number().describe("In credits, with at most three decimals; below 0 if they were spent.");
const balance = z
  .number()
  .min(0)
  .describe("What the account can spend now: its entries without what is held.");
const instant = z.iso.datetime();

/** What the backend API answers, for its description. */
const entry = z.object({ id, account: id, credits, createdAt: instant, balance });
const hold = z.object({
  id,
  account: id,
  credits: z.number().describe("What it holds."),
  state: z.enum(["open", "settled", "released"]),
  entry: id.nullable().describe("The entry that settled it."),
  createdAt: instant,
  expiresAt: instant.describe("From then on it holds nothing."),
  balance,
});
const account = z.object({
  id,
  email: z.string(),
  reference: z.string().nullable().describe("Your own name for it."),
  status: z.string().describe("That of `GET /api/entitlement`."),
  plan: z.enum(plans),
  trialEndsAt: instant.nullable(),
  assistantLimit: z.int().nullable(),
  balance,
  held: z.number().describe("What open holds hold."),
  createdAt: instant,
});
const listed = z.object({
  ...{ id, account: id, credits, reason: z.string(), reference: z.string().nullable() },
  backend: z.string().nullable().describe("Which backend wrote it; null if none did."),
  hold: id.nullable().describe("The hold that it settled."),
  reverses: id.nullable().describe("The entry that it gives back, or a part of it."),
  createdAt: instant,
});
const next = z.string().nullable().describe("Send it as `after` for what follows, also later.");
const error = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string(), docs: z.url() }),
});

export const answers = {
  account,
  accounts: z.object({ accounts: z.array(account), next }),
  accountEntries: z.object({ entries: z.array(listed), next, balance }),
  entries: z.object({ entries: z.array(listed), next }),
  events: z.object({
    events: z.array(
      z.object({
        id: id.describe("The `webhook-id` of its webhooks."),
        type: z.enum(eventTypeNames),
        timestamp: instant,
        data: z
          .looseObject({
            account: id,
            number: z.int().describe("Its place among the events of the account."),
          })
          .describe("What else it has depends on `type`."),
      }),
    ),
    next,
  }),
  checks: z
    .object({ ok: z.literal(true), entry: entry.optional(), hold: hold.optional() })
    .describe("The answer of `GET /api/entitlement`, with the entry or the hold."),
  spends: entry,
  holds: hold,
  reference: account,
  settle: hold,
  release: hold,
  reverse: entry,
  batches: z.object({ results: z.array(z.union([entry, error])) }),
};
