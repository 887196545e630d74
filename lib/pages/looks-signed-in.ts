import { readCookies } from "@/lib/api/cookies";

/**
 * Whether a browser keeps a session of ours, or what renews it: where its way in leads. It may be over, so nothing but
 * a link hangs on it; home itself leads to sign in whoever is signed out.
 */
export function looksSignedIn(headers: Pick<Headers, "get">): boolean {
  return readCookies(headers, "__session").length + readCookies(headers, "office-client").length > 0;
}
