import { clerkMiddleware } from "@clerk/nextjs/server";
import type { NextFetchEvent, NextMiddleware, NextRequest, NextResponse } from "next/server";
import { oncePerProcess } from "@/lib/once-per-process";
import { clerkPages } from "@/lib/pages/content-security-policy";
import { settings } from "@/lib/settings";

/**
 * Lets Clerk renew the session cookie of a browser that opens one of its pages, by a redirect to its Frontend
 * API and back. It decides nothing about who may do what, and sees no other address: it would redirect API
 * calls, and ask its own API about any opaque token that anybody sends.
 *
 * @param proceed - makes the response of a request that goes on to its page
 */
export async function passClerk(
  request: NextRequest,
  event: NextFetchEvent,
  proceed: (request: NextRequest) => NextResponse,
): Promise<Response | undefined> {
  const { signIn } = settings();
  if (signIn.kind !== "clerk" || !clerkPages.has(request.nextUrl.pathname)) return undefined;
  const pass = oncePerProcess<NextMiddleware>("clerk middleware", () =>
    clerkMiddleware(async (_, passed) => proceed(passed), {
      publishableKey: signIn.publishableKey,
      jwtKey: signIn.publicKey.export({ type: "spki", format: "pem" }).toString(),
      authorizedParties: signIn.authorizedParties,
      signInUrl: "/sign-in",
      signUpUrl: "/invitation",
    }),
  );
  const response = await pass(request, event);
  return response ? withoutRewrite(response, request) : undefined;
}

/**
 * Clerk lets a request on by an absolute rewrite to itself. Where the server is asked for by a numeric address,
 * Next takes that for another host and proxies to itself for ever (vercel/next.js#94745): say "go on" instead.
 */
function withoutRewrite(response: Response, request: NextRequest): Response {
  const rewrite = response.headers.get("x-middleware-rewrite");
  if (rewrite && new URL(rewrite, request.url).pathname === request.nextUrl.pathname) {
    response.headers.delete("x-middleware-rewrite");
    response.headers.set("x-middleware-next", "1");
  }
  return response;
}
