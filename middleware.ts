import { type NextRequest, NextResponse } from "next/server";
import { refuseAtDoor } from "@/lib/api/door";

/** The front door on every platform; behind `npm start` the front server asks the same question first. */
export function middleware(request: NextRequest): Response {
  return refuseAtDoor(request.method, request.nextUrl.pathname, request.headers) ?? NextResponse.next();
}

export const config = { runtime: "nodejs", matcher: "/((?!_next/).*)" };
