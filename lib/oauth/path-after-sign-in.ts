import { readCookie } from "@/lib/http/cookies";
import { pages } from "@/lib/http/pages";
import { readAuthorizationRequest, readPending } from "@/lib/oauth/approval";

/** The page to continue with after sign-in: the approval if a request waits for it in this browser, else home or another. */
export async function pathAfterSignIn(
  headers: Pick<Headers, "get">,
  otherwise: string = pages.home.path,
): Promise<string> {
  const authorizationRequest = readAuthorizationRequest(readCookie(headers, "office-request"));
  // If that cannot be read, home still links to the request.
  const pending = authorizationRequest && (await readPending(authorizationRequest).catch(() => undefined));
  return pending ? pages.connect.path : otherwise;
}
