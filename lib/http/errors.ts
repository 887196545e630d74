import { bodyLimits, headBoundsInWords, inKibibytes } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { pages } from "@/lib/http/pages";
import { LruCache } from "@/lib/runtime/lru-cache";

export type CatalogueEntry = {
  /** The HTTP status; `null` for a code kept for private workspace routes, which no public operation sends. */
  status: number | null;
  /** Another status it answers with, and when. */
  also?: string;
  /** Which requests it answers. */
  when: string;
  /** One plain sentence saying what went wrong. */
  message: string;
  /** What to do next. */
  hint: string;
};

const keptForPrivateRoutes = {
  status: null,
  when: "Kept for private workspace routes.",
  hint: "No public operation sends this code; look at the action in the app that led to it.",
} as const;

/** Every error code there is: the list is closed within major version 1, and clients branch on it. */
export const errorCatalogue = {
  not_found: {
    status: 404,
    when: "The path is under `/api` or `/mcp` and is not one of the operations.",
    message: "There is nothing at this address.",
    hint: "Check the spelling of the path against the list of operations: case, slashes and encoding count.",
  },
  method_not_allowed: {
    status: 405,
    when: "The address exists and does not accept the method; `Allow` lists those it does.",
    message: "This address does not accept that method.",
    hint: "Use one of the methods that the Allow header lists.",
  },
  signed_out: {
    status: 401,
    when: "An account route was asked without a session, or with a token that is expired, malformed or ended; so was a tool of the MCP server that reads an account.",
    message: "There is no signed-in session.",
    hint: "Sign in, then send the new session token as 'Authorization: Bearer <SESSION_TOKEN>'.",
  },
  trial_ended: {
    status: 403,
    when: "Entitlement: signed in, and the trial is over.",
    message: "The trial of this account has ended.",
    hint: "Your assistants wait, and nothing of theirs is lost. Ask whoever invited you for a plan; they run again as soon as you have one.",
  },
  forbidden: {
    status: 403,
    when: "Entitlement: signed in, and the account's record is absent or cannot be read. MCP: the request names another host than ours, or a page elsewhere sent it to a loopback address.",
    message: "The account of this session could not be read, so it may not run.",
    hint: "If you have just accepted an invitation, look again in a moment. Otherwise ask whoever invited you to check your account.",
  },
  invalid_request: {
    status: 400,
    also: "408 when the request took too long to arrive, 415 when a message to the MCP server is not JSON",
    when: "An unsupported `API-Version`, before the operation runs; or a request that cannot be read as HTTP.",
    message: "The request could not be understood.",
    hint: "Correct the request as the message says, then send it again.",
  },
  invalid_token: {
    status: 400,
    when: "Unsubscribe: the `token` of the link is missing, sent twice or altered.",
    message: "The unsubscribe token is missing or not valid.",
    hint: "Use the link from the email exactly as it was sent.",
  },
  not_configured: {
    status: 503,
    when: "Entitlement: this deployment has no sign-in.",
    message: "Sign-in is not set up in this deployment.",
    hint: "Ask whoever operates this service to set up sign-in in its settings; asking again does not help until then.",
  },
  balance_unavailable: {
    status: 503,
    when: "Credit balance: the account could not be reached or read, or there is no sign-in.",
    message: "The credit balance cannot be read at the moment.",
    hint: "Try again shortly.",
  },
  unavailable: {
    status: 503,
    also: "429 when too many requests came from one address",
    when: "Entitlement: the account could not be checked in time. With 429: the quota of this address is used up.",
    message: "The service cannot answer this at the moment.",
    hint: "Wait for the seconds in Retry-After, add a small random delay, then try again.",
  },
  upstream_failed: {
    status: 502,
    when: "Unsubscribe: the store did not confirm in time, so later emails may still be scheduled.",
    message: "It is not certain that the later emails are stopped.",
    hint: "Use the same link again in a moment; it stays valid.",
  },
  too_large: {
    status: 413,
    also: "431 when it is the headers",
    when: `The body of an unsubscribe is over ${inKibibytes(bodyLimits.unsubscribe)}, that of an MCP message over ${inKibibytes(bodyLimits.mcp)}, or the headers of any request over ${headBoundsInWords}.`,
    message: "The request is larger than this address accepts.",
    hint: "Send a smaller request.",
  },
  internal_error: {
    status: 500,
    when: "A fault of ours that has no code of its own.",
    message: "Something went wrong on our side.",
    hint: "Try again; if it happens again, report the X-Request-Id of this answer.",
  },
  invalid_signature: {
    status: 400,
    when: "A webhook's signature is missing or wrong; these addresses are for our providers.",
    message: "The signature of this delivery is missing or not valid.",
    hint: "Check the signing secret of the webhook at its sender.",
  },
  credits_not_configured: { ...keptForPrivateRoutes, message: "Credits are not set up in this deployment." },
  billing_not_configured: { ...keptForPrivateRoutes, message: "Billing is not set up in this deployment." },
  paid_only: { ...keptForPrivateRoutes, message: "This needs a paid plan." },
  checkout_failed: { ...keptForPrivateRoutes, message: "The checkout could not be started." },
  portal_failed: { ...keptForPrivateRoutes, message: "The billing portal could not be opened." },
  limit_required: { ...keptForPrivateRoutes, message: "A spending limit has to be set first." },
  limit_failed: { ...keptForPrivateRoutes, message: "The spending limit could not be changed." },
  fulfilment_failed: { ...keptForPrivateRoutes, message: "A purchase could not be fulfilled." },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The codes that a public answer can carry. */
export type PublicErrorCode = {
  [Code in ErrorCode]: (typeof errorCatalogue)[Code]["status"] extends number ? Code : never;
}[ErrorCode];

type Details = {
  /** Instead of the catalogue's status, where one code answers in two ways (503 and 429). */
  status?: number;
  message?: string;
  hint?: string;
  headers?: Record<string, string>;
  /** Fields beside `error` in the body, as an EntitlementDenied has. */
  beside?: Record<string, unknown>;
};

/** A refusal meant for the client. Thrown in a room, answered in the hall; its words are public. */
export class ApiError extends Error {
  readonly status: number;
  readonly hint: string;
  readonly headers: Record<string, string>;
  private readonly beside: Record<string, unknown>;
  private json: object | undefined;

  constructor(
    readonly code: PublicErrorCode,
    { status, message, hint, headers, beside }: Details = {},
  ) {
    const entry = errorCatalogue[code];
    // A stack that no one reads is a third of the cost of a refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message ?? entry.message);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status ?? entry.status;
    this.hint = hint ?? entry.hint;
    this.headers = headers ?? {};
    this.beside = beside ?? {};
  }

  /** The JSON body: `{error: {code, message, hint, docs}}` and the additional fields. */
  toJSON(): object {
    const { code, message, hint } = this;
    this.json ??= Object.freeze({
      ...this.beside,
      error: { code, message, hint, docs: `${settings().appUrl}${pages.errors.path}#${code}` },
    });
    return this.json;
  }
}

// A flood is refused in few different words.
const refusals = new LruCache<ApiError>(200);

/** A 429 (RFC 6585 §4). The list of codes is closed, so its code is `unavailable`. */
export function tooManyRequests({
  message,
  retryAfterSeconds,
}: {
  message?: string;
  retryAfterSeconds: number | undefined;
}): ApiError {
  const key = `${retryAfterSeconds} ${message}`;
  let refusal = refusals.get(key);
  if (!refusal) {
    const headers = { "retry-after": String(retryAfterSeconds) };
    refusal = new ApiError("unavailable", { status: 429, headers, ...(message && { message }) });
    refusals.set(key, refusal);
  }
  return refusal;
}
