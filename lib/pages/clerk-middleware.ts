import { clerkMiddleware } from "@clerk/nextjs/server";
import type { NextFetchEvent, NextMiddleware, NextRequest, NextResponse } from "next/server";
import { pageAt } from "@/lib/api/door";
import { pages } from "@/lib/api/pages";
import { isClerks } from "@/lib/pages/content-security-policy";
import { within } from "@/lib/process/deadline";
import { log } from "@/lib/process/log";
import { oncePerProcess } from "@/lib/process/once-per-process";
import { settings } from "@/lib/settings/settings";

const deadlineMs = 5000; // 5 seconds: its client has none of its own

/**
 * Lets Clerk renew the session cookie of a browser that opens one of its pages, by a redirect to its Frontend
 * API and back. It decides nothing about who may do what, and sees no other request: it would redirect API
 * calls, and ask its own API about any opaque bearer token that anybody sends. Where Clerk does not answer in
 * time, the page goes by what the browser has sent.
 *
 * @param proceed - makes the response of a request that goes on to its page
 */
export async function passClerk(
  request: NextRequest,
  event: NextFetchEvent,
  proceed: (request: NextRequest) => NextResponse,
): Promise<Response | undefined> {
  const { signIn } = settings();
  const page = pageAt(request.nextUrl.pathname);
  if (signIn.kind !== "clerk" || !page || !isClerks(page)) return undefined;
  if (request.headers.has("authorization")) return undefined;
  const pass = oncePerProcess<NextMiddleware>("clerk middleware", () =>
    clerkMiddleware(async (_, passed) => proceed(passed), {
      publishableKey: signIn.publishableKey,
      jwtKey: signIn.publicKey.export({ type: "spki", format: "pem" }).toString(),
      authorizedParties: signIn.authorizedParties,
      signInUrl: pages.signIn.path,
      signUpUrl: pages.invitation.path,
    }),
  );
  try {
    const response = await within(deadlineMs, Promise.resolve(pass(request, event)));
    return response ? tidy(response, request) : undefined;
  } catch (failure) {
    log().error({ err: failure }, "Clerk could not renew a session");
    return undefined;
  }
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
