import { ClerkCallLimitError, renewAtClerk } from "@/lib/auth/clerk/clerk-calls";
import { writeSession } from "@/lib/auth/local-sign-in";
import { renewBrowserSession } from "@/lib/auth/sessions/browser-session";
import { bringsToken, readPageCredential } from "@/lib/auth/tokens/credential";
import { answersWithinMs } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { cookieHeaders, readCookie } from "@/lib/http/cookies";
import type { HeaderList, ResponseParts } from "@/lib/http/response";
import { log } from "@/lib/runtime/log";
import { withTimeout } from "@/lib/runtime/timeout";

/**
 * Renews the session of a browser that opens a page: its token is valid for a minute, the session for weeks. Clerk may
 * redirect the browser for that, so only pages call this. If it fails, the page is shown with the session that the
 * browser sent.
 *
 * @param handler - gets the request with the renewed session, and whether it could not be renewed
 */
export function renewingSession<Shown extends object>(
  handler: (call: Call, isAway: boolean) => Promise<Shown>,
): (call: Call) => Promise<Shown | ResponseParts> {
  return async (call) => {
    const { headers, url } = call;
    if (bringsToken(headers)) return handler(call, false);
    // At `?away` a renewal has just failed.
    const renewed = url.searchParams.has("away") ? undefined : await renew(call);
    if (!renewed) return handler(call, true);
    if (renewed.has("location")) return { status: 307, body: null, headers: [...renewed].flat() };
    const cookies = renewed.getSetCookie();
    const [session] = cookies.filter((cookie) => cookie.startsWith("__session="));
    // The browser sends it only from the next request on.
    if (session) {
      const sent = headers.get("cookie")?.split("; ") ?? [];
      const others = sent.filter((cookie) => !cookie.startsWith("__session="));
      const renewedHeaders = new Headers([...headers]);
      renewedHeaders.set("cookie", [session.split(";", 1)[0], ...others].join("; "));
      call.goOnWith(renewedHeaders);
    }
    const shown = await handler(call, false);
    const { headers: own = [] } = shown as { headers?: HeaderList };
    return { ...shown, headers: [...own, ...cookieHeaders(cookies)] };
  };
}

/** The headers of a redirect, or of the cookies to set; `undefined` if the session could not be renewed. */
async function renew(call: Call): Promise<Headers | undefined> {
  const { signIn } = settings();
  try {
    return await (signIn.kind === "clerk"
      ? renewAtClerk(call, signIn)
      : withTimeout(answersWithinMs.store, renewHere(call)));
  } catch (failure) {
    if (!(failure instanceof ClerkCallLimitError))
      log().error({ err: failure }, "a session could not be renewed");
    return undefined;
  }
}

async function renewHere(call: Call): Promise<Headers> {
  const { headers, nowMs } = call;
  const renewed = new Headers();
  const sent = await call.once(readPageCredential);
  const secret = readCookie(headers, "office-client");
  if (!("is" in sent) || secret === undefined) return renewed;
  const token = await renewBrowserSession(await store(), secret, nowMs);
  if (token) renewed.append("set-cookie", writeSession(token));
  return renewed;
}
