import { sendsCookie } from "@/lib/http/cookies";

/**
 * Whether a browser sends a session cookie or the cookie that renews it. The session may have ended, so this only
 * decides where a link leads; the home page redirects to sign-in if there is no session.
 */
export function hasSessionCookie(headers: Pick<Headers, "get">): boolean {
  return sendsCookie(headers, "__session") || sendsCookie(headers, "office-client");
}
