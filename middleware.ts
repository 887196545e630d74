import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server";
import { runClerkMiddleware } from "@/lib/auth/clerk-middleware";
import { settings } from "@/lib/config/settings";
import { limitHeaders } from "@/lib/http/forwarded-request";
import { headersAt } from "@/lib/http/page-headers";
import { clerkSignsIn, pages } from "@/lib/http/pages";
import { createRequestContext } from "@/lib/http/request-context";
import {
  isFrameworks,
  isUnderApi,
  isWebhookPath,
  redirectTrailingSlash,
  rejectUnrouted,
  routeAt,
} from "@/lib/http/router";

/** Rejects unknown API addresses and methods on every platform. `npm start` does the same before it. */
export async function middleware(request: NextRequest, event: NextFetchEvent): Promise<Response> {
  const { pathname } = request.nextUrl;
  const refused =
    rejectUnrouted(request.method, pathname, request.headers) ??
    redirectTrailingSlash(request.method, pathname, request.nextUrl.search, request.headers);
  if (refused) return refused;
  // The API and the webhooks set their own headers.
  if (isUnderApi(pathname) || isWebhookPath(pathname)) return NextResponse.next();
  const defaults = headersAt(pathname, btoa(crypto.randomUUID()));
  const { requestId } = createRequestContext(request.method, pathname, request.headers);
  const proceed = (passed: NextRequest) => passOn(passed, requestId, defaults);
  const response = (await runClerkMiddleware(request, event, proceed)) ?? proceed(request);
  for (let at = 0; at < defaults.length; at += 2)
    response.headers.set(defaults[at] ?? "", defaults[at + 1] ?? "");
  // Shared caches must not keep the id of one client's request.
  if (!routeAt(pathname)?.isShared) response.headers.set("x-request-id", requestId);
  return response;
}

/**
 * Passes a request on to its page, with only the headers that pages read. Next reads the nonce for its own scripts from
 * the policy on the request. An unknown address gets the page that says so.
 */
function passOn(request: NextRequest, requestId: string, defaults: readonly string[]): NextResponse {
  const { pathname } = request.nextUrl;
  const headers = new Headers(request.headers);
  headers.delete("cookie");
  for (const [name, value] of limitHeaders(request.method, (name) => request.headers.get(name)))
    headers.set(name, value);
  headers.set("x-request-id", requestId);
  const policy = defaults[defaults.indexOf("content-security-policy") + 1];
  if (policy) headers.set("content-security-policy", policy);
  if (settings().signIn.kind === "clerk") headers.set(clerkSignsIn, "yes");
  else headers.delete(clerkSignsIn);
  if (routeAt(pathname) || isFrameworks(pathname)) return NextResponse.next({ request: { headers } });
  return NextResponse.rewrite(new URL(pages.nothingHere.path, request.url), { request: { headers } });
}

export const config = { runtime: "nodejs" };
