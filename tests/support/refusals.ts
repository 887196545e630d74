import type { ErrorCode } from "@/lib/http/errors";

/** The status and default texts of each error code. */
export const refusals: Record<ErrorCode, { status: number | null; message: string; hint: string }> = {
  not_found: {
    status: 404,
    message: "There is nothing at this address.",
    hint: "Check the spelling of the path against the list of operations: case, slashes and encoding count.",
  },
  method_not_allowed: {
    status: 405,
    message: "This address does not accept that method.",
    hint: "Use one of the methods that the Allow header lists.",
  },
  signed_out: {
    status: 401,
    message: "There is no signed-in session.",
    hint: "Sign in, then send the new session token as 'Authorization: Bearer <SESSION_TOKEN>'.",
  },
  trial_ended: {
    status: 403,
    message: "The trial of this account has ended.",
    hint: "Your assistants wait, and nothing of theirs is lost. Ask whoever invited you for a plan; they run again as soon as you have one.",
  },
  forbidden: {
    status: 403,
    message: "The account of this session could not be read, so it may not run.",
    hint: "If you have just accepted an invitation, look again in a moment. Otherwise ask whoever invited you to check your account.",
  },
  invalid_request: {
    status: 400,
    message: "The request could not be understood.",
    hint: "Correct the request as the message says, then send it again.",
  },
  invalid_token: {
    status: 400,
    message: "The unsubscribe token is missing or not valid.",
    hint: "Use the link from the email exactly as it was sent.",
  },
  not_configured: {
    status: 503,
    message: "Sign-in is not set up in this deployment.",
    hint: "Ask whoever operates this service to set up sign-in in its settings; asking again does not help until then.",
  },
  balance_unavailable: {
    status: 503,
    message: "The credit balance cannot be read at the moment.",
    hint: "Try again shortly.",
  },
  unavailable: {
    status: 503,
    message: "The service cannot answer this at the moment.",
    hint: "Wait for the seconds in Retry-After, add a small random delay, then try again.",
  },
  upstream_failed: {
    status: 502,
    message: "It is not certain that the later emails are stopped.",
    hint: "Use the same link again in a moment; it stays valid.",
  },
  too_large: {
    status: 413,
    message: "The request is larger than this address accepts.",
    hint: "Send a smaller request.",
  },
  internal_error: {
    status: 500,
    message: "Something went wrong on our side.",
    hint: "Try again; if it happens again, report the X-Request-Id of this answer.",
  },
  invalid_signature: {
    status: 400,
    message: "The signature of this delivery is missing or not valid.",
    hint: "Check the signing secret of the webhook at its sender.",
  },
  credits_not_configured: {
    status: null,
    message: "Credits are not set up in this deployment.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
  billing_not_configured: {
    status: null,
    message: "Billing is not set up in this deployment.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
  paid_only: {
    status: null,
    message: "This needs a paid plan.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
  checkout_failed: {
    status: null,
    message: "The checkout could not be started.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
  portal_failed: {
    status: null,
    message: "The billing portal could not be opened.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
  limit_required: {
    status: null,
    message: "A spending limit has to be set first.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
  limit_failed: {
    status: null,
    message: "The spending limit could not be changed.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
  fulfilment_failed: {
    status: null,
    message: "A purchase could not be fulfilled.",
    hint: "No public operation sends this code; look at the action in the app that led to it.",
  },
};
