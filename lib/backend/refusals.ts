import { eventDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { ApiError, type CatalogueEntry } from "@/lib/http/errors";

/** The page of the backend API that explains its codes. */
export const refusalsPath = "/docs";

/** The codes that only the backend API has, next to the public ones. What is refused has written nothing. */
export const refusals = {
  invalid_assertion: {
    status: 401,
    when: "The `Authorization` of the request is no JWT that a key of a backend signed for this address within the last five minutes. `message` says what is wrong with it.",
    message: "The assertion is missing or not valid.",
    hint: "Send 'Authorization: Bearer <JWT>', signed by the backend's private key.",
  },
  insufficient_credits: {
    status: 409,
    when: "The account has fewer credits than the request spends or holds. Credits that are held cannot be spent twice.",
    message: "The account has too few credits.",
    hint: "Spend at most `balance`, or tell the owner to add credits.",
  },
  monthly_limit_reached: {
    status: 409,
    when: "The owner limits what is spent and held in a month (UTC), and the request would exceed that. `left` says how much it allows yet, until `resetsAt`.",
    message: "The owner's monthly limit does not allow this.",
    hint: "Spend at most `left`, wait until `resetsAt`, or ask the owner to raise the limit on their billing page.",
  },
  account_not_found: {
    status: 404,
    when: "No account has this id, email or reference.",
    message: "There is no such account.",
    hint: "An account that was deleted is not found again.",
  },
  reference_taken: {
    status: 409,
    when: "Another account has this reference.",
    message: "Another account has this reference.",
    hint: "Find it with `GET /v1/accounts?reference=`.",
  },
  hold_not_found: {
    status: 404,
    when: "No hold has this id.",
    message: "There is no such hold.",
    hint: "Use the `id` of the answer to the request that made it.",
  },
  hold_closed: {
    status: 409,
    when: "The hold is settled, released or expired. `state` says which.",
    message: "The hold is closed.",
    hint: "What an expired hold held can be spent without it, while it is there.",
  },
  entry_not_found: {
    status: 404,
    when: "No entry has this id.",
    message: "There is no such entry.",
    hint: "Use the `id` of a spend, or the `entry` of a settled hold.",
  },
  not_reversible: {
    status: 409,
    when: "The entry is no spend of a backend, or less of it is left than the request reverses. `reversible` says how much is left.",
    message: "So much of this entry cannot be reversed.",
    hint: "Reverse at most `reversible` credits.",
  },
  balance_too_large: {
    status: 409,
    when: "The balance would go above a trillion credits.",
    message: "The balance would be too large.",
    hint: "Reverse less.",
  },
  events_gone: {
    status: 410,
    when: `The events after this one are not all here any more: they are kept for ${eventDays} days, and a store that was restored has others.`,
    message: "What followed this event is no longer here.",
    hint: "Read the accounts that you need anew, and the events without `after`.",
  },
  key_reused: {
    status: 422,
    when: "The `Idempotency-Key` was sent before with another request.",
    message: "This Idempotency-Key belongs to another request.",
    hint: "Send a new key with each new request, and the same key only with the same body.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type RefusalCode = keyof typeof refusals;

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
    const docs = `${settings().backend?.url}${refusalsPath}#${code}`;
    return { ...this.fields, error: { code, message, hint, docs } };
  }
}
