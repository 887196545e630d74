import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server";
import { refuseAtDoor } from "@/lib/api/door";
import { hsts } from "@/lib/api/headers";
import { passClerk } from "@/lib/pages/clerk-middleware";
import { settings } from "@/lib/settings";

/** The front door on every platform; behind `npm start` the front server asks the same question first. */
export async function middleware(request: NextRequest, event: NextFetchEvent): Promise<Response> {
  const refused = refuseAtDoor(request.method, request.nextUrl.pathname, request.headers);
  if (refused) return refused;
  const response = (await passClerk(request, event)) ?? NextResponse.next();
  if (settings().appUrl.startsWith("https:")) response.headers.set("Strict-Transport-Security", hsts);
  return response;
}

export const config = { runtime: "nodejs", matcher: "/((?!_next/).*)" };
