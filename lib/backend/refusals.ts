import { type BackendName, backendRoutes } from "@/lib/backend/addresses";
import { eventDays } from "@/lib/config/lifetimes";
import { bodyLimits, inKibibytes, maxWritesAtOnce, rateLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { ApiError, type CatalogueEntry, type ErrorCode } from "@/lib/http/errors";

/** The document of the backend API. */
export const documentPath = "/docs";

/** The address where it explains a code. */
export const docsOf = (code: string) => `${settings().backend?.url}${documentPath}#${code}`;

const everywhere = Object.keys(backendRoutes) as BackendName[];
const writes = everywhere.filter((name) => backendRoutes[name].methods[0] === "POST");
const costs = ["checks", "spends", "holds", "settle", "batches"] as const;
const ofAnAccount = ["account", "accountEntries", "spends", "holds", "reference", "batches"] as const;

type Placed = { at: readonly BackendName[] };

/** The codes that only the backend API has, next to the public ones. What is refused has written nothing. */
export const refusals = {
  invalid_assertion: {
    status: 401,
    at: everywhere,
    when: "The `Authorization` of the request is no JWT that a key of a backend signed for this address within the last five minutes. `message` says what is wrong with it.",
    message: "The assertion is missing or not valid.",
    hint: "Send 'Authorization: Bearer <JWT>', signed by the backend's private key.",
  },
  insufficient_credits: {
    status: 409,
    at: costs,
    when: "The account has fewer credits than the request spends or holds; `balance` says how many. Credits that are held cannot be spent twice. In a batch that is all or nothing, `index` is the place of the spend.",
    message: "The account has too few credits.",
    hint: "Spend at most `balance`, or tell the owner to add credits.",
  },
  monthly_limit_reached: {
    status: 409,
    at: costs,
    when: "The owner limits what is spent and held in a month (UTC), and the request would exceed that. `left` says how much it allows yet, until `resetsAt`.",
    message: "The owner's monthly limit does not allow this.",
    hint: "Spend at most `left`, wait until `resetsAt`, or ask the owner to raise the limit on their billing page.",
  },
  account_not_found: {
    status: 404,
    at: ofAnAccount,
    when: "No account has this id.",
    message: "There is no such account.",
    hint: "Use the `id` from `GET /v1/accounts`. An account that was deleted is not found again.",
  },
  reference_taken: {
    status: 409,
    at: ["reference"],
    when: "Another account has this reference.",
    message: "Another account has this reference.",
    hint: "Find it with `GET /v1/accounts?reference=`.",
  },
  hold_not_found: {
    status: 404,
    at: ["settle", "release"],
    when: "No hold has this id.",
    message: "There is no such hold.",
    hint: "Use the `id` of the answer to the request that made it.",
  },
  hold_closed: {
    status: 409,
    at: ["settle", "release"],
    when: "The hold is settled, released or expired. `state` says which.",
    message: "The hold is closed.",
    hint: "Do nothing if `state` is what you wanted. What an expired or released hold held can be spent without it, while it is there.",
  },
  entry_not_found: {
    status: 404,
    at: ["accountEntries", "entries", "reverse"],
    when: "No entry has this id, or the one in `after` is of another account. A store that was restored lacks those of after its backup.",
    message: "There is no such entry.",
    hint: "Use the `id` of a spend, or the `entry` of a settled hold. For a list, read it without `after`, and compare it with what you have.",
  },
  not_reversible: {
    status: 409,
    at: ["reverse"],
    when: "The entry is no spend of a backend, or less of it is left than the request reverses. `reversible` says how much is left.",
    message: "So much of this entry cannot be reversed.",
    hint: "Reverse at most `reversible` credits.",
  },
  balance_too_large: {
    status: 409,
    at: ["reverse"],
    when: "The balance would go above a trillion credits.",
    message: "The balance would be too large.",
    hint: "Reverse less.",
  },
  plan_not_found: {
    status: 404,
    at: ["plans"],
    when: "No plan has the name in `after`.",
    message: "There is no such plan.",
    hint: "Begin without `after`: all plans are in one answer.",
  },
  events_gone: {
    status: 410,
    at: ["events"],
    when: `There is no such event, or those after it are not all here any more: they are kept for ${eventDays} days, and a store that was restored has others.`,
    message: "What followed this event is no longer here.",
    hint: "Read the accounts that you need anew, and the events without `after`.",
  },
  key_reused: {
    status: 422,
    at: writes,
    when: "The `Idempotency-Key` was sent before with another request: to another address, or with another byte in its body.",
    message: "This Idempotency-Key belongs to another request.",
    hint: "Send a new key with each new request, and the same key only with the same body.",
  },
} as const satisfies Record<string, CatalogueEntry & Placed>;

export type RefusalCode = keyof typeof refusals;

/** What the public codes mean here that this API answers with too. */
const sharedRefusals = {
  invalid_request: {
    status: 400,
    also: "408 if the request took too long to arrive",
    at: everywhere.filter((name) => name !== "account"),
    when: "A field of the body or of the query is not as it must be, the body is not JSON, or the `Idempotency-Key` is missing or too long, or there are several.",
    hint: "`message` names the field: correct it. A key whose request was refused can be used again.",
  },
  signed_out: {
    status: 401,
    at: ["checks"],
    when: "The owner's `token` in a check has expired, is none, or is bound to a key and came without a valid `proof`: then `hint` says so. The answer is that of `GET /api/entitlement`.",
    hint: "Send the `proof` that the app sent you with its token, or ask the app for a new token. Your assertion is fine.",
  },
  trial_ended: {
    status: 403,
    at: ["checks"],
    when: "The owner of the token may not run. The answer is that of `GET /api/entitlement`.",
    hint: "Do not begin the work, and show the owner `message`.",
  },
  forbidden: {
    status: 403,
    at: everywhere,
    when: "The backend may not do this. In a check with `ok` false: the record of the token's owner is missing.",
    hint: "Add the backend again with `--may read,spend`, or what it needs.",
  },
  not_found: {
    status: 404,
    at: [],
    when: "There is no such address: the path has a typing error, a slash at its end, or an id with other characters.",
    hint: "Compare it with the addresses above.",
  },
  method_not_allowed: {
    status: 405,
    at: everywhere,
    when: "The address does not accept this method.",
    hint: "Use one of those in `Allow`.",
  },
  too_large: {
    status: 413,
    also: "431 if the headers are too large",
    at: writes,
    when: `The body is over ${inKibibytes(bodyLimits.write)}, or that of a batch over ${inKibibytes(bodyLimits.batch)}.`,
    hint: `Send shorter texts, or fewer than ${maxWritesAtOnce} spends at once.`,
  },
  unavailable: {
    status: [429, 503],
    at: everywhere,
    when: `The store did not answer in time, more than ${rateLimits.backends.perClient} requests a minute came from one address, or too many at once. A write may have been executed.`,
    hint: "Wait for the seconds in `Retry-After`, then send the same request with the same key: it is executed once.",
  },
  not_configured: {
    status: 503,
    at: ["checks"],
    when: "This deployment has no sign-in, so no token can be checked.",
    hint: "Trying again does not help: spend without a check, or set `SIGN_IN`.",
  },
  internal_error: {
    status: 500,
    at: everywhere,
    when: "An unexpected error on our side.",
    hint: "Send the same request with the same key. If it fails again, look for the `X-Request-Id` of the answer in the log.",
  },
} as const satisfies Partial<Record<ErrorCode, Answered>>;

type Answered = Placed & { status: number | readonly number[]; also?: string; when: string; hint: string };

/** Every code that this API answers with. */
export const allRefusals: Record<string, Answered> = { ...refusals, ...sharedRefusals };

/** The refusals of an address: each status with its codes, ascending. */
export function refusalsOf(name: BackendName): Map<number, string[]> {
  const found = Object.entries(allRefusals)
    .filter(([, { at }]) => at.includes(name))
    .flatMap(([code, { status }]) => [status].flat().map((one) => ({ status: one, code })))
    .sort((one, other) => one.status - other.status);
  const byStatus = Map.groupBy(found, ({ status }) => status);
  return new Map([...byStatus].map(([status, codes]) => [status, codes.map(({ code }) => code)]));
}

/** Why the backend API refused a request, by a code of its own. */
export class Refusal extends ApiError {
  /** @param fields - figures for the program, next to the `error` */
  constructor(
    readonly refusal: RefusalCode,
    readonly fields: Record<string, unknown> = {},
    words: { message?: string; headers?: Record<string, string> } = {},
  ) {
    super("invalid_request", { ...refusals[refusal], ...words });
  }

  override toJSON(): object {
    const { refusal: code, message, hint } = this;
    return { ...this.fields, error: { code, message, hint, docs: docsOf(code) } };
  }
}
