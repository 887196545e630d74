import { type NextRequest, NextResponse } from "next/server";
import { headersAt } from "@/lib/http/page-headers";
import { pages } from "@/lib/http/pages";
import { createRequestContext } from "@/lib/http/request-context";
import { isUnderApi, isWebhookPath, redirectTrailingSlash, rejectUnrouted, routeAt } from "@/lib/http/router";

/** Rejects unknown API addresses and methods on every platform. `npm start` does the same before it. */
export function middleware(request: NextRequest): Response {
  const { pathname } = request.nextUrl;
  const refused =
    rejectUnrouted(request.method, pathname, request.headers) ??
    redirectTrailingSlash(request.method, pathname, request.nextUrl.search, request.headers);
  if (refused) return refused;
  // The API and the webhooks set their own headers.
  if (isUnderApi(pathname) || isWebhookPath(pathname)) return NextResponse.next();
  const { requestId } = createRequestContext(request.method, pathname, request.headers);
  const response = passOn(request, requestId);
  const defaults = headersAt(pathname);
  for (let at = 0; at < defaults.length; at += 2)
    response.headers.set(defaults[at] ?? "", defaults[at + 1] ?? "");
  // Shared caches must not keep the id of one client's request.
  if (!routeAt(pathname)?.isShared) response.headers.set("x-request-id", requestId);
  return response;
}

/** Passes a request on to its route handler. An unknown address gets the page that says so. */
function passOn(request: NextRequest, requestId: string): NextResponse {
  const headers = new Headers(request.headers);
  headers.set("x-request-id", requestId);
  if (routeAt(request.nextUrl.pathname)) return NextResponse.next({ request: { headers } });
  return NextResponse.rewrite(new URL(pages.nothingHere.path, request.url), { request: { headers } });
}

export const config = { runtime: "nodejs" };
