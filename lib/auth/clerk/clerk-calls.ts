import { maxSessionCookies, readPageCredential } from "@/lib/auth/tokens/credential";
import { readIssuer } from "@/lib/auth/tokens/session-token";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { answersWithinMs, rateLimits } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import type { Call } from "@/lib/http/call";
import { ApiError } from "@/lib/http/errors";
import { pages } from "@/lib/http/register/pages";
import { turnsOf } from "@/lib/http/turns";
import { perProcess } from "@/lib/per-process";
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
const state = perProcess("calls to Clerk", () => ({ unavailableUntilMs: 0 }));

/** Clerk was not called: a limit is reached, or it timed out a moment ago. */
export class ClerkCallLimitError extends Error {}

/** Calls Clerk for a request. Throws a {@link ClerkCallLimitError}, a `TimeoutError`, or the call's own error. */
export async function callClerk<T>(client: Client, call: () => Promise<T>): Promise<T> {
  if (performance.now() < state().unavailableUntilMs) throw new ClerkCallLimitError("Clerk does not answer");
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
    if (failure instanceof TimeoutError) state().unavailableUntilMs = performance.now() + pauseMs;
    throw failure;
  }
}

/** Other requests wait for the answer too, so no one's leaving ends a call. */
const goesOn = new AbortController().signal;

/**
 * Lets Clerk renew the session cookie of a browser, by a redirect to its Frontend API and back. Returns the headers of its
 * answer; `undefined` if the cookies that a redirect has brought back could not be fetched, which the library takes for a
 * sign-out (clerk/javascript#9114). It authorizes nothing.
 */
export async function renewAtClerk(call: Call, signIn: ClerkSettings): Promise<Headers | undefined> {
  const request = toLibrary(call, signIn);
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
  const cookie = request.headers.get("cookie") ?? "";
  const nonce = "__clerk_handshake_nonce";
  const isBack = new URL(request.url).searchParams.has(nonce) || cookie.includes(nonce);
  const isCall = isBack || cookie.includes("__refresh");
  const { headers, reason } = await (isCall ? callClerk(call.client, ask) : ask());
  if (isBack && !headers.has("set-cookie")) return undefined;
  // Clerk's script deletes this cookie for a moment whenever it writes it anew: a redirect without it would sign out.
  const isBetweenWrites =
    reason === "dev-browser-missing" && !("is" in (await call.once(readPageCredential)));
  return isBetweenWrites ? new Headers() : headers;
}

/**
 * The request with `APP_URL` as its origin. Clerk redirects the browser back to the host of the request, and a proxy or
 * a client can send any host. Parameters that lead to another site are removed, and `__session` cookies of others: of
 * several the library reads the first, and one that is no JWT is a session that cannot be renewed to it.
 */
function toLibrary(
  { url: { pathname, search }, headers: sent, method }: Call,
  { issuer }: ClerkSettings,
): Request {
  const url = new URL(pathname + search, settings().appUrl);
  for (const name of ["__clerk_redirect_url", "__clerk_synced"]) url.searchParams.delete(name);
  const headers = new Headers([...sent]);
  for (const name of [...headers.keys()]) {
    if (/^(?:x-forwarded-|cloudfront-forwarded-|forwarded$)/.test(name)) headers.delete(name);
  }
  headers.set("host", url.host);
  const cookies = sent.get("cookie")?.split(";") ?? [];
  const kept: string[] = [];
  let sessions = 0;
  for (const pair of cookies) {
    const [, token] = /^[ \t]*__session=(.*)$/.exec(pair) ?? [];
    // As many as are tried for a session: a stranger's field may have a thousand.
    const isTried = token !== undefined && sessions++ < maxSessionCookies;
    if (!isTried || readIssuer(token.trim()) === issuer) kept.push(pair);
  }
  if (kept.length < cookies.length) headers.set("cookie", kept.join(";"));
  return new Request(url, { method, headers });
}
