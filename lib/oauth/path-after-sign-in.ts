import { pages } from "@/lib/http/register/pages";
import { readAuthorizationRequest, readPending } from "@/lib/oauth/approval";
import { listUnsent } from "@/lib/oauth/browser-requests";

/** The page to continue with after sign-in: the approval if a request waits for it in this browser, else home or another. */
export async function pathAfterSignIn(
  headers: Pick<Headers, "get">,
  otherwise: string = pages.home.path,
): Promise<string> {
  for (const name of listUnsent(headers)) {
    const request = readAuthorizationRequest(name);
    // If that cannot be read, home still links to the request.
    const pending = request && (await readPending(request).catch(() => undefined));
    if (pending) return pages.connect.path;
  }
  return otherwise;
}
