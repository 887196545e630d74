import { type NextRequest, NextResponse } from "next/server";
import { GET as nothingHere } from "@/app/(pages)/nothing-here/route";
import { settings } from "@/lib/config/settings";
import { defaultHeaders } from "@/lib/http/default-headers";
import { isUnderApi, rejectUnrouted } from "@/lib/http/not-found";
import { files } from "@/lib/http/register/files";
import { toResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { redirectTrailingSlash, refuse, routeAt } from "@/lib/http/router";

/** Rejects unknown API addresses and methods on every platform. `npm start` does the same before it. */
export function middleware(request: NextRequest): Response | Promise<Response> {
  const { pathname } = request.nextUrl;
  const { method, headers } = request;
  const refused = rejectUnrouted(method, pathname);
  if (refused) return toResponse(refuse(method, pathname, headers, refused));
  const redirected = redirectTrailingSlash(method, pathname, request.nextUrl.search, headers);
  if (redirected) {
    const moved = toResponse(redirected);
    // Next fails at a relative address.
    moved.headers.set("location", settings().appUrl + moved.headers.get("location"));
    return moved;
  }
  const route = routeAt(pathname);
  // Behind TLS on a loopback address, Next would take a rewrite for another origin's (vercel/next.js#94745).
  if (!route && !isUnderApi(pathname)) return nothingHere(request);
  const response = NextResponse.next();
  // Next serves the files itself; every route handler sets its own headers.
  const defaults = route && filesServed.has(route) ? defaultHeaders(route) : [];
  for (let at = 0; at < defaults.length; at += 2)
    response.headers.set(defaults[at] ?? "", defaults[at + 1] ?? "");
  return response;
}

const filesServed = new Set<Route>(Object.values(files));

export const config = { runtime: "nodejs" };
