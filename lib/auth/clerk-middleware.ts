import { clerkMiddleware } from "@clerk/nextjs/server";
import { type NextFetchEvent, NextRequest, NextResponse } from "next/server";
import { ClerkCallLimitError, callClerk } from "@/lib/auth/clerk-calls";
import { settings } from "@/lib/config/settings";
import { isClerks } from "@/lib/http/content-security-policy";
import { pages } from "@/lib/http/pages";
import { pageAt } from "@/lib/http/router";
import { log } from "@/lib/runtime/log";

/**
 * Lets Clerk renew the session cookie of a browser that opens one of its pages, or the one where apps are let in, by a
 * redirect to its Frontend API and back. It decides nothing about who may do what, and sees no other request: it would redirect API
 * calls, and ask its own API about any opaque bearer token that anybody sends. Where Clerk cannot be asked, the
 * page goes by what the browser has sent, and home says that it could not tell.
 *
 * @param proceed - makes the response of a request that goes on to its page
 */
export async function runClerkMiddleware(
  request: NextRequest,
  event: NextFetchEvent,
  proceed: (request: NextRequest) => NextResponse,
): Promise<Response | undefined> {
  const { signIn } = settings();
  const path = request.nextUrl.pathname;
  const page = pageAt(path);
  // Whoever an app sends to be let in most often comes a minute after they were last here.
  const renews = page && (isClerks(page) || page.path === pages.connect.path);
  if (signIn.kind !== "clerk" || !renews) return undefined;
  if (request.headers.has("authorization") || request.nextUrl.searchParams.has("away")) return undefined;
  const pass = clerkMiddleware(async () => proceed(request), {
    publishableKey: signIn.publishableKey,
    jwtKey: signIn.publicKey.export({ type: "spki", format: "pem" }).toString(),
    authorizedParties: signIn.authorizedParties,
    signInUrl: pages.signIn.path,
    signUpUrl: pages.invitation.path,
  });
  const asked = asAskedFor(request);
  try {
    const passing = async () => pass(asked, event);
    const response = await (callsClerk(asked) ? callClerk(request.headers, passing) : passing());
    return response ? tidy(response, request) : undefined;
  } catch (failure) {
    if (!(failure instanceof ClerkCallLimitError))
      log().error({ err: failure }, "Clerk could not renew a session");
    return path === pages.home.path
      ? NextResponse.redirect(new URL(`${path}?away`, settings().appUrl))
      : undefined;
  }
}

/**
 * The request as its browser sees it, at `APP_URL`: Clerk sends the browser back to where the request says it was
 * sent, and a proxy or a client may say anything. Nor does it see what leads to another site.
 */
function asAskedFor(request: NextRequest): NextRequest {
  const url = new URL(request.nextUrl.pathname + request.nextUrl.search, settings().appUrl);
  for (const name of ["__clerk_redirect_url", "__clerk_synced"]) url.searchParams.delete(name);
  const headers = new Headers(request.headers);
  for (const name of [...headers.keys()]) {
    if (/^(?:x-forwarded-|cloudfront-forwarded-|forwarded$)/.test(name)) headers.delete(name);
  }
  headers.set("host", url.host);
  return new NextRequest(url, { method: request.method, headers });
}

/**
 * Whether a request has Clerk's middleware call Clerk: to fetch what a handshake's nonce stands for, or to trade a
 * refresh token.
 */
function callsClerk({ nextUrl, headers }: NextRequest): boolean {
  const inCookies = /__clerk_handshake_nonce|__refresh/.test(headers.get("cookie") ?? "");
  return inCookies || nextUrl.searchParams.has("__clerk_handshake_nonce");
}

function tidy(response: Response, request: NextRequest): Response {
  const { headers } = response;
  for (const name of ["status", "reason", "message"]) headers.delete(`x-clerk-auth-${name}`);
  avoidLoop(headers, request);
  passNewSession(headers);
  return response;
}

/**
 * Clerk lets a request on by an absolute rewrite to itself. Where the server is asked for by a numeric address,
 * Next takes that for another host and proxies to itself for ever (vercel/next.js#94745): say "go on" instead.
 */
function avoidLoop(headers: Headers, request: NextRequest): void {
  const rewrite = headers.get("x-middleware-rewrite");
  if (!rewrite || new URL(rewrite, request.url).pathname !== request.nextUrl.pathname) return;
  headers.delete("x-middleware-rewrite");
  headers.set("x-middleware-next", "1");
}

/** The page reads the session that Clerk has just renewed: the browser itself sends it from the next request on. */
function passNewSession(headers: Headers): void {
  const [session] = headers
    .getSetCookie()
    .filter((cookie) => cookie.startsWith("__session="))
    .map((cookie) => cookie.split(";")[0] as string);
  if (!session || !headers.has("x-middleware-next")) return;
  const name = "x-middleware-override-headers";
  headers.set(name, `${headers.get(name)},cookie`);
  headers.set("x-middleware-request-cookie", session);
}
