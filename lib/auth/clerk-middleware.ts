import { clerkMiddleware } from "@clerk/nextjs/server";
import { type NextFetchEvent, NextRequest, NextResponse } from "next/server";
import { ClerkCallLimitError, callClerk } from "@/lib/auth/clerk-calls";
import { middlewareHeaders } from "@/lib/config/next-internals";
import { settings } from "@/lib/config/settings";
import { isClerks } from "@/lib/http/content-security-policy";
import { pages } from "@/lib/http/pages";
import { pageAt } from "@/lib/http/router";
import { log } from "@/lib/runtime/log";

/**
 * Lets Clerk renew the session cookie of a browser that opens one of Clerk's pages or the Connect page, by a redirect
 * to its Frontend API and back. It authorizes nothing. Clerk gets no other request, because it would redirect API
 * calls and look up any opaque bearer token at its own API. If Clerk is unavailable, the page uses the session that
 * the browser sent, and the home page shows that the session could not be checked.
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
  // An app usually sends its owner here when their last token, which lives for a minute, has expired.
  const renews = page && (isClerks(page) || page.path === pages.connect.path);
  if (signIn.kind !== "clerk" || !renews) return undefined;
  if (request.headers.has("authorization") || request.nextUrl.searchParams.has("away")) return undefined;
  const middleware = clerkMiddleware(async () => proceed(request), {
    publishableKey: signIn.publishableKey,
    jwtKey: signIn.publicKey.export({ type: "spki", format: "pem" }).toString(),
    authorizedParties: signIn.authorizedParties,
    signInUrl: pages.signIn.path,
    signUpUrl: pages.invitation.path,
  });
  const publicRequest = withPublicOrigin(request);
  try {
    const callMiddleware = async () => middleware(publicRequest, event);
    const response = await (callsClerk(publicRequest)
      ? callClerk(request.headers, callMiddleware)
      : callMiddleware());
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
 * The request with `APP_URL` as its origin. Clerk redirects the browser back to the host of the request, and a proxy or
 * a client can send any host. Parameters that lead to another site are removed.
 */
function withPublicOrigin(request: NextRequest): NextRequest {
  const url = new URL(request.nextUrl.pathname + request.nextUrl.search, settings().appUrl);
  for (const name of ["__clerk_redirect_url", "__clerk_synced"]) url.searchParams.delete(name);
  const headers = new Headers(request.headers);
  for (const name of [...headers.keys()]) {
    if (/^(?:x-forwarded-|cloudfront-forwarded-|forwarded$)/.test(name)) headers.delete(name);
  }
  headers.set("host", url.host);
  return new NextRequest(url, { method: request.method, headers });
}

/** Whether Clerk's middleware will call Clerk for this request: to resolve a handshake nonce or use a refresh token. */
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
 * Clerk passes a request on by an absolute rewrite to the same address. If the host is a numeric address, Next treats
 * it as another host and proxies to itself without end (vercel/next.js#94745). `x-middleware-next` avoids that.
 */
function avoidLoop(headers: Headers, request: NextRequest): void {
  const rewrite = headers.get(middlewareHeaders.rewrite);
  if (!rewrite || new URL(rewrite, request.url).pathname !== request.nextUrl.pathname) return;
  headers.delete(middlewareHeaders.rewrite);
  headers.set(middlewareHeaders.next, "1");
}

/** Gives the page the session that Clerk has just renewed. The browser sends it only from the next request on. */
function passNewSession(headers: Headers): void {
  const [session] = headers
    .getSetCookie()
    .filter((cookie) => cookie.startsWith("__session="))
    .map((cookie) => cookie.split(";")[0] as string);
  if (!session || !headers.has(middlewareHeaders.next)) return;
  const { overriddenRequestHeaders, requestHeaderPrefix } = middlewareHeaders;
  headers.set(overriddenRequestHeaders, `${headers.get(overriddenRequestHeaders)},cookie`);
  headers.set(`${requestHeaderPrefix}cookie`, session);
}
