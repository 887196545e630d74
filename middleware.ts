import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server";
import { isFrameworks, isHook, isUnderApi, placeAt, refuseAtDoor } from "@/lib/api/door";
import { clerkSignsIn, pages } from "@/lib/api/pages";
import { beginVisit } from "@/lib/api/visit";
import { passClerk } from "@/lib/pages/clerk-middleware";
import { boundHeaders } from "@/lib/pages/handed-on";
import { headersAt } from "@/lib/pages/page-headers";
import { settings } from "@/lib/settings/settings";

/** The front door on every platform; behind `npm start` the front server asks the same question first. */
export async function middleware(request: NextRequest, event: NextFetchEvent): Promise<Response> {
  const { pathname } = request.nextUrl;
  const refused = refuseAtDoor(request.method, pathname, request.headers);
  if (refused) return refused;
  // The API and the hooks stamp their answers themselves.
  if (isUnderApi(pathname) || isHook(pathname)) return NextResponse.next();
  const stamp = headersAt(pathname, btoa(crypto.randomUUID()));
  const { requestId } = beginVisit(request.method, pathname, request.headers);
  const proceed = (passed: NextRequest) => letOn(passed, requestId, stamp);
  const response = (await passClerk(request, event, proceed)) ?? proceed(request);
  for (let at = 0; at < stamp.length; at += 2) response.headers.set(stamp[at] ?? "", stamp[at + 1] ?? "");
  // Who sent the id of an answer that shared caches keep is nobody else's business.
  if (!placeAt(pathname)?.isShared) response.headers.set("x-request-id", requestId);
  return response;
}

/**
 * Lets a request on to its page with what pages read of it, which logs under the id of the visit. Next reads the nonce for its own scripts
 * from the policy on the request, and which sign-in there is from a name that nobody else can send. What is nowhere
 * goes to the page that says so.
 */
function letOn(request: NextRequest, requestId: string, stamp: readonly string[]): NextResponse {
  const { pathname } = request.nextUrl;
  const headers = new Headers(request.headers);
  headers.delete("cookie");
  for (const [name, value] of boundHeaders(request.method, (name) => request.headers.get(name)))
    headers.set(name, value);
  headers.set("x-request-id", requestId);
  const policy = stamp[stamp.indexOf("content-security-policy") + 1];
  if (policy) headers.set("content-security-policy", policy);
  if (settings().signIn.kind === "clerk") headers.set(clerkSignsIn, "yes");
  else headers.delete(clerkSignsIn);
  if (placeAt(pathname) || isFrameworks(pathname)) return NextResponse.next({ request: { headers } });
  return NextResponse.rewrite(new URL(pages.nothingHere.path, request.url), { request: { headers } });
}

export const config = { runtime: "nodejs" };
