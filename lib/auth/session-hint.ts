import { readCookies } from "@/lib/http/cookies";

/**
 * Whether a browser keeps a session of ours, or what renews it: where its way in leads. It may be over, so nothing but
 * a link hangs on it; home itself leads to sign in whoever is signed out.
 */
export function hasSessionCookie(headers: Pick<Headers, "get">): boolean {
  return readCookies(headers, "__session").length + readCookies(headers, "office-client").length > 0;
}
