import type { Call } from "@/lib/http/call";
import { cookieHeaders, readCookie, writeCookie } from "@/lib/http/cookies";
import { ApiError } from "@/lib/http/errors";
import type { ResponseParts } from "@/lib/http/response";
import type { Route } from "@/lib/http/route";

export const probeSeconds = 10 * 60; // 10 minutes

/**
 * Sends a form that needs cookies back to its own address by a 307, which keeps its method and fields (RFC 9110 §15.4.8)
 * and sets a cookie: pages from a shared cache cannot set one. Throws if it comes back without.
 */
export function probeCookies({ query, headers }: Call, { path }: Route): ResponseParts | undefined {
  if (readCookie(headers, "office-probe") !== undefined) return undefined;
  if (query.has("probed")) {
    throw new ApiError("invalid_request", {
      reason: "no cookies",
      message: "This form needs a cookie.",
      hint: "Allow this site to set cookies, then try again.",
    });
  }
  const cookies = cookieHeaders([writeCookie("office-probe", "1", probeSeconds)]);
  return { status: 307, body: null, headers: ["location", `${path}?probed`, ...cookies] };
}
