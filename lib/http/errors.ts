import { askUs } from "@/lib/config/contact";
import { inSeconds } from "@/lib/config/durations";
import {
  bodyLimits,
  headBoundsInWords,
  inKibibytes,
  maxPipelined,
  maxRequestsInWork,
  rateLimits,
} from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/register/pages";
import { jitter } from "@/lib/runtime/jitter";

export type CatalogueEntry = {
  status: number;
  /** Its other statuses, and when they are sent. */
  also?: string;
  when: string;
  message: string;
  hint: string;
};

/** Every error code. Clients branch on them, so the list is closed within major version 1. */
export const errorCatalogue = {
  not_found: {
    status: 404,
    also: "410 when an operation has been retired and its sunset has passed",
    when: "The path is under `/api` or `/mcp`, but is not one of the operations.",
    message: "There is nothing at this address.",
    hint: "Compare the path with the list of operations: case, slashes and encoding matter.",
  },
  method_not_allowed: {
    status: 405,
    when: "The address exists, but does not accept the method; `Allow` lists those that it accepts.",
    message: "This address does not accept this method.",
    hint: "Use one of the methods in the Allow header.",
  },
  signed_out: {
    status: 401,
    when: "An account route, or an MCP tool that reads an account, was called without a session or with a token that is malformed, expired, ended, or bound to a key and sent without its proof: then `hint` says so.",
    message: "You are not signed in.",
    hint: "Sign in, then send the new session token as 'Authorization: Bearer <SESSION_TOKEN>'.",
  },
  trial_ended: {
    status: 403,
    when: "Signed in, but the trial, or the licence after it, has ended.",
    message: "The trial of this account has ended.",
    get hint() {
      const { billing, appUrl } = settings();
      const step = billing ? `Get a plan at ${appUrl}${pages.billing.path}` : `For a plan, ${askUs()}`;
      return `Your assistants are paused, and nothing is lost. ${step}; they run again as soon as you have one.`;
    },
  },
  forbidden: {
    status: 403,
    when: "Signed in, but the account's record is missing or cannot be read. From `/mcp`: the request names a host other than ours, or a page on another origin sent it to a loopback address.",
    message: "This account could not be read, so it may not run.",
    get hint() {
      return `If you have just accepted an invitation, try again in a moment. Otherwise ${askUs()} about your account.`;
    },
  },
  invalid_request: {
    status: 400,
    also: "408 if the request took too long to arrive, 415 if a message to the MCP server is not JSON",
    when: "The `API-Version` is not supported, which is checked before the operation runs, or the request cannot be read as HTTP.",
    message: "The request could not be understood.",
    hint: "Correct the request as the message says, then send it again.",
  },
  invalid_token: {
    status: 400,
    when: "The `token` of the link is missing, sent twice or altered.",
    message: "The unsubscribe token is missing or not valid.",
    hint: "Use the link from the email exactly as it was sent.",
  },
  not_configured: {
    status: 503,
    when: "Sign-in is not set up in this deployment.",
    message: "Sign-in is not set up in this deployment.",
    hint: "Ask the operator of this service to set up sign-in. Until then, trying again does not help.",
  },
  balance_unavailable: {
    status: 503,
    when: "The account could not be reached or read, or sign-in is not set up.",
    message: "The credit balance cannot be read at the moment.",
    hint: "Try again shortly.",
  },
  unavailable: {
    status: 503,
    also: "429 if too many requests came from one address or network, or at once",
    when: `The account could not be checked in time. With 429, which any address may answer: a quota or limit of your address or network is used up, or more than ${maxPipelined} requests wait on one connection, or more than ${maxRequestsInWork} requests of your network with a body are being received.`,
    message: "The service cannot answer this at the moment.",
    hint: "Wait for the seconds in Retry-After plus a small random delay, then try again.",
  },
  upstream_failed: {
    status: 502,
    when: `The store did not confirm in time, or more than ${rateLimits.unsubscribe.perClient} links a minute were used from one address, so later emails may still be sent.`,
    message: "Some of the later emails may still be sent.",
    hint: "Use the same link again in a moment. It stays valid.",
  },
  too_large: {
    status: 413,
    also: "431 if the headers are too large",
    when: `The body of an unsubscribe is over ${inKibibytes(bodyLimits.unsubscribe)}, that of an MCP message over ${inKibibytes(bodyLimits.mcp)}, or the headers of any request over ${headBoundsInWords}.`,
    message: "The request is larger than this address accepts.",
    hint: "Send a smaller request.",
  },
  internal_error: {
    status: 500,
    when: "An unexpected error on our side.",
    message: "Something went wrong on our side.",
    hint: "Try again. If it happens again, report the X-Request-Id of this response.",
  },
  invalid_signature: {
    status: 400,
    when: "A webhook's signature is missing or wrong. Only our providers call these addresses.",
    message: "The signature of this delivery is missing or not valid.",
    hint: "Check the webhook's signing secret at the provider.",
  },
  credits_not_configured: {
    status: 503,
    when: "The form on `/home/billing` that buys credits was sent, but this deployment sells none.",
    message: "Credits are not set up in this deployment.",
    hint: "Ask the operator of this service for credits. Until then, trying again does not help.",
  },
  billing_not_configured: {
    status: 503,
    when: "A form on `/home/billing`, or Stripe's webhook, was sent to a deployment without billing.",
    message: "Billing is not set up in this deployment.",
    hint: "Ask the operator of this service for a plan. Until then, trying again does not help.",
  },
  paid_only: {
    status: 403,
    when: "The form on `/home/billing` that opens the billing portal was sent by an account that has never bought anything, or the one that buys credits by an account without a licence.",
    message: "This needs a paid plan.",
    hint: "Choose a plan on the billing page first.",
  },
  checkout_failed: {
    status: 502,
    when: "The form on `/home/billing` that buys something was sent, but Stripe did not start the checkout.",
    message: "The checkout could not be started.",
    hint: "Nothing was bought. Try again in a moment. If it fails again, tell us: our log says why.",
  },
  portal_failed: {
    status: 502,
    when: "The form on `/home/billing` that opens the billing portal was sent, but Stripe did not open it.",
    message: "The billing portal could not be opened.",
    hint: "Nothing was changed. Try again in a moment. If it fails again, tell us: our log says why.",
  },
  limit_required: {
    status: 400,
    when: "The form on `/home/billing` that turns automatic purchases on was sent without how often a month.",
    message: "A spending limit has to be set first.",
    hint: "Say how often a month credits may be bought at most.",
  },
  limit_failed: {
    status: 400,
    when: "A form on `/home/billing` that sets limits was sent with something that is no amount of credits, or not for what the form sets.",
    message: "The spending limit could not be changed.",
    hint: "Type a number of credits with at most two decimals, and thousands without separators. Automatic purchases begin below a number that the pack covers.",
  },
  fulfilment_failed: {
    status: 500,
    when: "An event in Stripe's webhook could not be processed, so Stripe delivers it again. Only Stripe calls this address.",
    message: "A purchase could not be fulfilled.",
    hint: "Deliver the event again. If it fails for an hour, run 'admin check'.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** `Retry-After` (RFC 9110 §10.2.3) for a 503 that is expected to end soon: 5 to 30 seconds. */
export const retryAfterOutage = () => ({ "retry-after": String(jitter(5, 30, Math.random())) });

/** What tells a refusal from others of its code: who handles it asks for that, and not for its words. */
export type Reason = "overloaded" | "no cookies" | "no proof" | "unknown outcome" | "barred";

type Details = {
  reason?: Reason;
  /** Overrides the catalogue's status, for codes with two statuses (503 and 429). */
  status?: number;
  message?: string;
  hint?: string | undefined;
  headers?: Record<string, string>;
  /** Additional fields of the body, as in EntitlementDenied. */
  extraFields?: Record<string, unknown>;
};

/** A refusal for the client. A handler throws it, and its texts are public. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: Reason | undefined;
  readonly hint: string;
  readonly headers: Record<string, string>;
  private readonly extraFields: Record<string, unknown>;

  constructor(
    readonly code: ErrorCode,
    { status, reason, message, hint, headers, extraFields }: Details = {},
  ) {
    const entry = errorCatalogue[code];
    // A stack that no one reads is a third of the cost of a refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message ?? entry.message);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status ?? entry.status;
    this.reason = reason;
    this.hint = hint ?? entry.hint;
    const isForNow = this.status >= 500 && (code === "unavailable" || code === "upstream_failed");
    this.headers = headers ?? (isForNow ? retryAfterOutage() : {});
    this.extraFields = extraFields ?? {};
  }

  /** The JSON body: `{error: {code, message, hint, docs}}` and the additional fields. */
  toJSON(): object {
    const { code, message, hint } = this;
    const docs = `${settings().appUrl}${pages.errors.path}#${code}`;
    return { ...this.extraFields, error: { code, message, hint, docs } };
  }
}

/** Whose attempts are too many, in words: of a client, its network, or all that count together. */
export const tooManyOf = {
  client: "Too many attempts from your browser or address",
  network: "Too many attempts from your network or account",
  all: "Too many attempts from all networks together",
};

/** A 429 of one of our limits. */
export class LimitError extends ApiError {
  constructor(
    readonly whose: keyof typeof tooManyOf,
    seconds: number,
  ) {
    const headers = { "retry-after": String(seconds) };
    super("unavailable", {
      status: 429,
      headers,
      message: `${tooManyOf[whose]}: wait ${inSeconds(seconds)}.`,
    });
  }
}

/** A 429 (RFC 6585 §4), which names the seconds. Its code is `unavailable`, because the list of codes is closed. */
export function tooManyRequests(
  seconds = 2, // too many at once, and not in a window
  message = `Too many requests: wait ${inSeconds(seconds)}.`,
): ApiError {
  return new ApiError("unavailable", { status: 429, headers: { "retry-after": String(seconds) }, message });
}
