import type { ErrorCode } from "@/lib/http/errors";

/** The status and default texts of each error code. */
export const refusals: Record<ErrorCode, { status: number | null; message: string; hint: string }> = {
  not_found: {
    status: 404,
    message: "There is nothing at this address.",
    hint: "Compare the path with the list of operations: case, slashes and encoding matter.",
  },
  method_not_allowed: {
    status: 405,
    message: "This address does not accept this method.",
    hint: "Use one of the methods in the Allow header.",
  },
  signed_out: {
    status: 401,
    message: "You are not signed in.",
    hint: "Sign in, then send the new session token as 'Authorization: Bearer <SESSION_TOKEN>'.",
  },
  trial_ended: {
    status: 403,
    message: "The trial of this account has ended.",
    hint: "Your assistants are paused, and nothing is lost. For a plan, write to help@example.com; they run again as soon as you have one.",
  },
  forbidden: {
    status: 403,
    message: "This account could not be read, so it may not run.",
    hint: "If you have just accepted an invitation, try again in a moment. Otherwise write to help@example.com about your account.",
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
    hint: "Ask the operator of this service to set up sign-in. Until then, trying again does not help.",
  },
  balance_unavailable: {
    status: 503,
    message: "The credit balance cannot be read at the moment.",
    hint: "Try again shortly.",
  },
  unavailable: {
    status: 503,
    message: "The service cannot answer this at the moment.",
    hint: "Wait for the seconds in Retry-After plus a small random delay, then try again.",
  },
  upstream_failed: {
    status: 502,
    message: "Some of the later emails may still be sent.",
    hint: "Use the same link again in a moment. It stays valid.",
  },
  too_large: {
    status: 413,
    message: "The request is larger than this address accepts.",
    hint: "Send a smaller request.",
  },
  internal_error: {
    status: 500,
    message: "Something went wrong on our side.",
    hint: "Try again. If it happens again, report the X-Request-Id of this response.",
  },
  invalid_signature: {
    status: 400,
    message: "The signature of this delivery is missing or not valid.",
    hint: "Check the webhook's signing secret at the provider.",
  },
  credits_not_configured: {
    status: 503,
    message: "Credits are not set up in this deployment.",
    hint: "Ask the operator of this service for credits. Until then, trying again does not help.",
  },
  billing_not_configured: {
    status: 503,
    message: "Billing is not set up in this deployment.",
    hint: "Ask the operator of this service for a plan. Until then, trying again does not help.",
  },
  paid_only: {
    status: 403,
    message: "This needs a paid plan.",
    hint: "Choose a licence on the billing page first.",
  },
  checkout_failed: {
    status: 502,
    message: "The checkout could not be started.",
    hint: "Nothing was bought. Try again in a moment.",
  },
  portal_failed: {
    status: 502,
    message: "The billing portal could not be opened.",
    hint: "Nothing was changed. Try again in a moment.",
  },
  limit_required: {
    status: null,
    message: "A spending limit has to be set first.",
    hint: "No public operation sends this code; check the action in the app that caused it.",
  },
  limit_failed: {
    status: null,
    message: "The spending limit could not be changed.",
    hint: "No public operation sends this code; check the action in the app that caused it.",
  },
  fulfilment_failed: {
    status: 500,
    message: "A purchase could not be fulfilled.",
    hint: "Deliver the event again. If it fails for an hour, run 'admin check'.",
  },
};
