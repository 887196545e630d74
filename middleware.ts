import { type NextRequest, NextResponse } from "next/server";
import { GET as nothingHere } from "@/app/(pages)/nothing-here/route";
import { settings } from "@/lib/config/settings";
import { defaultHeaders } from "@/lib/http/default-headers";
import { callOf } from "@/lib/http/platform";
import { files } from "@/lib/http/register/files";
import { toResponse } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";
import { decide } from "@/lib/http/router";

/** Decides about requests on every platform as our own server does. */
export async function middleware(request: NextRequest): Promise<Response> {
  const call = callOf(request);
  const decided = await decide(call);
  if (decided) {
    const answer = toResponse(decided);
    const location = answer.headers.get("location");
    // Next fails at a relative address.
    if (location) answer.headers.set("location", settings().appUrl + location);
    return answer;
  }
  const { route } = call;
  // Behind TLS on a loopback address, Next would take a rewrite for another origin's (vercel/next.js#94745).
  if (!route) return nothingHere(request);
  const response = NextResponse.next();
  // Next serves the files itself; every route handler sets its own headers.
  const defaults = filesServed.has(route) ? defaultHeaders(route) : [];
  for (let at = 0; at < defaults.length; at += 2)
    response.headers.set(defaults[at] ?? "", defaults[at + 1] ?? "");
  return response;
}

const filesServed = new Set<Route>(Object.values(files));

export const config = { runtime: "nodejs" };
