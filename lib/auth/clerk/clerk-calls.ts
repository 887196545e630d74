import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { answersWithinMs, rateLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import { turnsOf } from "@/lib/http/turns";
import { processSingleton } from "@/lib/process-singleton";
import { type Client, circlesOf } from "@/lib/rate-limit/client";
import { consumeLimit } from "@/lib/rate-limit/rate-limit";
import { loadLibrary } from "@/lib/runtime/load-library";
import { TimeoutError, withTimeout } from "@/lib/runtime/timeout";

/*
 * Every call to Clerk that a request causes goes through here, because anyone can send requests, and Clerk limits and
 * bills our calls. The bounds: `rateLimits.clerkCalls`, `turnBounds.clerkCalls` and a timeout.
 * After a timeout, calls fail at once for a few seconds.
 */
const pauseMs = 5000; // 5 seconds

/** Clerk was not called: a limit is reached, or it timed out a moment ago. */
export class ClerkCallLimitError extends Error {}

/** Calls Clerk for a request. Throws a {@link ClerkCallLimitError}, a `TimeoutError`, or the call's own error. */
export async function callClerk<T>(client: Client, call: () => Promise<T>): Promise<T> {
  const clerk = processSingleton("calls to Clerk", () => ({ unavailableUntilMs: 0 }));
  if (performance.now() < clerk.unavailableUntilMs) throw new ClerkCallLimitError("Clerk does not answer");
  const circles = circlesOf(client);
  try {
    return await turnsOf("clerkCalls").run(circles, goesOn, async () => {
      if (await consumeLimit("clerk", rateLimits.clerkCalls, circles))
        throw new ClerkCallLimitError("Clerk was asked enough");
      return withTimeout(answersWithinMs.clerk, call());
    });
  } catch (failure) {
    if (failure instanceof ApiError && failure.reason === "overloaded")
      throw new ClerkCallLimitError("Clerk has enough to do");
    if (failure instanceof TimeoutError) clerk.unavailableUntilMs = performance.now() + pauseMs;
    throw failure;
  }
}

/** Other requests wait for the answer too, so no one's leaving ends a call. */
const goesOn = new AbortController().signal;

/**
 * Lets Clerk renew the session cookie of a browser, by a redirect to its Frontend API and back. Returns the headers of its
 * answer. It authorizes nothing.
 */
export async function renewAtClerk(call: Call, signIn: ClerkSettings): Promise<Headers> {
  const request = withPublicOrigin(call);
  const ask = async () => {
    const { clerkClient } = await loadLibrary(() => import("@/lib/runtime/clerk-client"));
    return clerkClient(signIn).authenticateRequest(request, {
      jwtKey: signIn.publicKey.export({ type: "spki", format: "pem" }).toString(),
      authorizedParties: signIn.authorizedParties,
      signInUrl: pages.signIn.path,
      signUpUrl: pages.invitation.path,
    });
  };
  // The library calls Clerk to resolve a handshake nonce and to use a refresh token.
  const { searchParams } = new URL(request.url);
  const isCall =
    searchParams.has("__clerk_handshake_nonce") ||
    /__clerk_handshake_nonce|__refresh/.test(request.headers.get("cookie") ?? "");
  const { headers } = await (isCall ? callClerk(call.client, ask) : ask());
  return headers;
}

/**
 * The request with `APP_URL` as its origin. Clerk redirects the browser back to the host of the request, and a proxy or
 * a client can send any host. Parameters that lead to another site are removed.
 */
function withPublicOrigin({ url: { pathname, search }, headers: sent, method }: Call): Request {
  const url = new URL(pathname + search, settings().appUrl);
  for (const name of ["__clerk_redirect_url", "__clerk_synced"]) url.searchParams.delete(name);
  const headers = new Headers([...sent]);
  for (const name of [...headers.keys()]) {
    if (/^(?:x-forwarded-|cloudfront-forwarded-|forwarded$)/.test(name)) headers.delete(name);
  }
  headers.set("host", url.host);
  return new Request(url, { method, headers });
}
