import * as z from "zod";
import { accountStates } from "@/lib/accounts/accounts";
import { maxReferenceCharacters } from "@/lib/accounts/reference";
import { keepAmounts, parseAmount } from "@/lib/backend/amount";
import { parseTypedEmail } from "@/lib/config/email-address";
import { maxHoldSeconds, maxWritesAtOnce } from "@/lib/config/limits";
import type { SentHeaders } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { slug } from "@/lib/plans/plan";

/** A text of a backend, which people read: one that each engine can store. */
const words = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(
      (text) => text.isWellFormed() && !/\p{Cc}/u.test(text),
      "must be one line without control characters",
    );

const isAmount =
  'must be an amount of credits with at most three decimals, as a text like "0.125" or a number';
const amountFrom = (min: number) =>
  z
    .unknown()
    .meta({ type: "string", description: "Exact to three decimals. A number is taken too." })
    .transform((value, { addIssue }) => {
      const thousandths = parseAmount(value);
      if (thousandths !== undefined && thousandths >= min) return thousandths;
      addIssue({
        code: "custom",
        message:
          value === undefined
            ? "is missing"
            : min > 0 && thousandths === 0
              ? "must be more than 0"
              : isAmount,
      });
      return z.NEVER;
    });
const amount = amountFrom(1);
const reason = words(500).describe("What for, in one line that the owner reads.");

/** A field that may be left out, or be null, which serializers of Java and .NET write where nothing is set. */
const optional = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  z.preprocess((value) => value ?? undefined, schema.optional()).describe(description);
const reference = optional(words(200), "Your own name for what it was for.");

const spend = { credits: amount, reason, reference };
const hold = { ...spend, expiresInSeconds: z.int().min(1).max(maxHoldSeconds) };

/** The bodies of the writes. What they do not name is refused, because a field that is misspelt would do nothing. */
export const inputs = {
  spends: z.strictObject(spend),
  holds: z.strictObject(hold),
  reference: z.strictObject({ reference: words(maxReferenceCharacters).nullable() }),
  settle: z.strictObject({ credits: optional(amountFrom(0), "What to spend of it; all unless given.") }),
  release: z.strictObject({}),
  reverse: z.strictObject({
    credits: optional(amount, "All that is left of it unless given."),
    reason,
  }),
  checks: z
    .strictObject({
      token: z.string().min(1).max(8192).describe("The owner's session token, as their app sends it."),
      proof: optional(
        z.strictObject({
          jwt: z.string().max(8192).describe("The header `DPoP` of their app's request to you."),
          method: z
            .string()
            .regex(/^[A-Z]{1,20}$/)
            .describe("The method of that request, in capitals."),
          url: z
            .url({ protocol: /^https?$/ })
            .max(2048)
            .describe("Its address, as the app called it."),
        }),
        "For a token that is bound to a key (RFC 9449), which is refused without.",
      ),
      resource: optional(z.enum(["api", "mcp"]), "What the token is for; `api` unless given."),
      spend: optional(z.strictObject(spend), "What it costs."),
      hold: optional(z.strictObject(hold), "What it may cost, in place of `spend`."),
    })
    .refine(({ spend, hold }) => !spend || !hold, "has either spend or hold"),
  batches: z.strictObject({
    spends: z
      .array(z.strictObject({ account: words(200), ...spend }))
      .min(1)
      .max(maxWritesAtOnce),
    all: optional(z.boolean(), "All or nothing; each for itself unless true."),
  }),
};

/** Parses the body of a write. Throws a 400 that names the first field that is not as it must be. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.infer<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body) || "{}", keepAmounts);
  } catch {
    throw invalid("The body is not JSON in UTF-8.");
  }
  // So clients send that they have nothing to say: nothing, null, or [], as PHP writes an empty array.
  const isEmpty = json === null || (Array.isArray(json) && json.length === 0);
  const parsed = schema.safeParse(isEmpty ? {} : json, { error: inWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = z.core.toDotPath(issue?.path ?? []);
  throw invalid(`${at ? `'${at}'` : "The body"} ${toPredicate(issue?.message)}.`);
}

/** What is wrong with a field, for who wrote the request: our words for the commonest issues, zod's for the others. */
const inWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be of the type ${issue.expected}`;
    case "unrecognized_keys":
      return `has a field that is not listed: ${issue.keys.join(", ")}`;
    case "too_small":
      return issue.origin in units ? "must not be empty" : `must be at least ${issue.minimum}`;
    case "too_big": {
      const unit = units[issue.origin];
      return unit ? `must have at most ${issue.maximum} ${unit}` : `must be at most ${issue.maximum}`;
    }
    default:
      return undefined;
  }
};

const units: Record<string, string> = { string: "characters", array: "items" };

/** Our own words are a predicate; zod's are a sentence about something. */
function toPredicate(message = ""): string {
  return /^(?:is|has|must) /.test(message) ? message : `is not as it must be: ${message}`;
}

const page = {
  // A program that has read nothing yet may send it empty.
  after: z
    .literal("")
    .transform(() => undefined)
    .or(words(200))
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
};

/** The queries of the lists. What they do not name is refused too: a misspelt filter would list everyone. */
export const queries = {
  list: z.strictObject(page),
  accounts: z
    .strictObject({
      ...page,
      // A query that was not encoded has a plus where a blank arrives, and no email has a blank.
      email: words(320)
        .transform((email) => parseTypedEmail(email.trim().replaceAll(" ", "+")) ?? email)
        .optional(),
      reference,
      plan: slug.optional(),
      state: z.enum(accountStates).optional(),
    })
    // All of them are before `null` and `undefined`, which programs write of what they do not have: the list would be empty.
    .refine(({ after }) => after === undefined || after.startsWith("acc_"), {
      path: ["after"],
      error: "must be the id of an account",
    }),
};

/** Parses a query, in which each name stands once. Throws a 400. */
export function parseQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: URLSearchParams,
): z.infer<Schema> {
  const names = [...query.keys()];
  const parsed = schema.safeParse(Object.fromEntries(query), { error: inWords });
  if (parsed.success && names.length === new Set(names).size) return parsed.data;
  const issue = parsed.error?.issues[0];
  if (!issue) throw invalid("A name is in the query more than once.");
  const at = issue.path.join(".");
  throw invalid(`${at ? `'${at}' of the query` : "The query"} ${toPredicate(issue.message)}.`);
}

/**
 * Reads the `Idempotency-Key`. Throws a 400 if there is none, it is longer than 255 characters, or there are several: a handler
 * that adds the field at each attempt, beside those of before, makes a list of them (RFC 9110 §5.2), which would be another key.
 */
export function readKey(headers: Pick<SentHeaders, "get">): string {
  const sent = headers.get("idempotency-key")?.split(",");
  const [key = "", ...others] = new Set(sent?.map((one) => one.trim()));
  if (key && key.length <= 255 && others.length === 0) return key;
  throw new ApiError("invalid_request", {
    message: !key
      ? "The Idempotency-Key is missing."
      : others.length > 0
        ? "There are several Idempotency-Keys, or one with a comma."
        : "The Idempotency-Key is longer than 255 characters.",
    hint: "Send a new key with each new write, for example a UUID, and the same one when you repeat it.",
  });
}

function invalid(message: string): ApiError {
  return new ApiError("invalid_request", { message });
}
