import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server";
import { refuseAtDoor } from "@/lib/api/door";
import { passClerk } from "@/lib/pages/clerk-middleware";
import { renderedPagePolicy } from "@/lib/pages/content-security-policy";
import { settings } from "@/lib/settings/settings";

/** The front door on every platform; behind `npm start` the front server asks the same question first. */
export async function middleware(request: NextRequest, event: NextFetchEvent): Promise<Response> {
  const refused = refuseAtDoor(request.method, request.nextUrl.pathname, request.headers);
  if (refused) return refused;
  const response = (await passClerk(request, event, proceed)) ?? proceed(request);
  const { hsts } = settings();
  if (hsts) response.headers.set("Strict-Transport-Security", hsts);
  return response;
}

/** Lets a request on to its page. Next reads the nonce for its own scripts from the policy on the request. */
function proceed(request: NextRequest): NextResponse {
  const policy = renderedPagePolicy(request.nextUrl.pathname);
  if (!policy) return NextResponse.next();
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  return response;
}

export const config = { runtime: "nodejs", matcher: "/((?!_next/).*)" };
