import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server";
import { isHook, isUnderApi, refuseAtDoor } from "@/lib/api/door";
import { beginVisit } from "@/lib/api/visit";
import { passClerk } from "@/lib/pages/clerk-middleware";
import { renderedPagePolicy } from "@/lib/pages/content-security-policy";
import { settings } from "@/lib/settings/settings";

/** The front door on every platform; behind `npm start` the front server asks the same question first. */
export async function middleware(request: NextRequest, event: NextFetchEvent): Promise<Response> {
  const { pathname } = request.nextUrl;
  const refused = refuseAtDoor(request.method, pathname, request.headers);
  if (refused) return refused;
  // The API and the hooks stamp their answers themselves.
  if (isUnderApi(pathname) || isHook(pathname)) return NextResponse.next();
  const { requestId } = beginVisit(request.method, pathname, request.headers);
  const proceed = (passed: NextRequest) => letOn(passed, requestId);
  const response = (await passClerk(request, event, proceed)) ?? proceed(request);
  response.headers.set("x-request-id", requestId);
  const { hsts } = settings();
  if (hsts) response.headers.set("Strict-Transport-Security", hsts);
  return response;
}

/**
 * Lets a request on to its page, which logs under the id of the visit. Next reads the nonce for its own scripts
 * from the policy on the request.
 */
function letOn(request: NextRequest, requestId: string): NextResponse {
  const headers = new Headers(request.headers);
  headers.set("x-request-id", requestId);
  const policy = renderedPagePolicy(request.nextUrl.pathname);
  if (policy) headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  if (policy) response.headers.set("content-security-policy", policy);
  return response;
}

export const config = { runtime: "nodejs", matcher: "/((?!_next/).*)" };
