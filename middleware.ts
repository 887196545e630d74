import { type NextRequest, NextResponse } from "next/server";
import { refuseAtDoor } from "@/lib/api/door";
import { hsts } from "@/lib/api/headers";
import { renderedPagePolicy } from "@/lib/pages/content-security-policy";
import { settings } from "@/lib/settings";

/** The front door on every platform; behind `npm start` the front server asks the same question first. */
export function middleware(request: NextRequest): Response {
  const refused = refuseAtDoor(request.method, request.nextUrl.pathname, request.headers);
  if (refused) return refused;
  const policy = renderedPagePolicy(request.nextUrl.pathname);
  const response = policy ? nextUnder(policy, request) : NextResponse.next();
  if (settings().appUrl.startsWith("https:")) response.headers.set("Strict-Transport-Security", hsts);
  return response;
}

/** Next reads the nonce for its own scripts from the policy on the request. */
function nextUnder(policy: string, request: NextRequest): NextResponse {
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  return response;
}

export const config = { runtime: "nodejs", matcher: "/((?!_next/).*)" };
