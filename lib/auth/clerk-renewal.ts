import { ClerkCallLimitError, callClerk } from "@/lib/auth/clerk-calls";
import { clerkClient } from "@/lib/auth/clerk-client";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { settings } from "@/lib/config/settings";
import type { HandlerRequest } from "@/lib/http/handler";
import { pages } from "@/lib/http/pages";
import type { HeaderList, ResponseParts } from "@/lib/http/response";
import { log } from "@/lib/runtime/log";

/**
 * Lets Clerk renew the session cookie of a browser that opens a page, by a redirect to its Frontend API and back. It
 * authorizes nothing. Only pages that call this ask Clerk: it would redirect API calls, too. If Clerk is unavailable, the
 * page is shown with the session that the browser sent.
 *
 * @param handler - gets the request with the renewed session, and whether Clerk could not be asked
 */
export function renewingAtClerk<Shown extends object>(
  handler: (call: HandlerRequest, isClerkAway: boolean) => Promise<Shown>,
): (call: HandlerRequest) => Promise<Shown | ResponseParts> {
  return async (call) => {
    const { signIn } = settings();
    const { headers, url } = call;
    // A bearer token is not a browser's; at `?away` Clerk has just failed.
    if (signIn.kind !== "clerk" || headers.has("authorization") || url.searchParams.has("away"))
      return handler(call, false);
    const state = await askClerk(call, signIn);
    if (!state) return handler(call, true);
    const sent = [...state.headers].flat();
    if (state.headers.has("location")) return { status: 307, body: null, headers: sent };
    const cookies = state.headers.getSetCookie();
    const [session] = cookies.filter((cookie) => cookie.startsWith("__session="));
    // The browser sends it only from the next request on.
    if (session) {
      call.headers = new Headers([...headers]);
      call.headers.set("cookie", session.split(";", 1)[0] ?? "");
    }
    const shown = await handler(call, false);
    const set = cookies.flatMap((cookie) => ["set-cookie", cookie]);
    const { headers: own = [] } = shown as { headers?: HeaderList };
    return { ...shown, headers: [...own, ...set] };
  };
}

/** Clerk's decision about a request: a redirect, or the cookies to set; `undefined` if Clerk could not be asked. */
async function askClerk(call: HandlerRequest, signIn: ClerkSettings) {
  const request = withPublicOrigin(call);
  const ask = async () => {
    const clerk = await clerkClient();
    return clerk.authenticateRequest(request, {
      jwtKey: signIn.publicKey.export({ type: "spki", format: "pem" }).toString(),
      authorizedParties: signIn.authorizedParties,
      signInUrl: pages.signIn.path,
      signUpUrl: pages.invitation.path,
    });
  };
  try {
    return await (callsClerk(request) ? callClerk(call.headers, ask) : ask());
  } catch (failure) {
    if (!(failure instanceof ClerkCallLimitError))
      log().error({ err: failure }, "Clerk could not renew a session");
    return undefined;
  }
}

/**
 * The request with `APP_URL` as its origin. Clerk redirects the browser back to the host of the request, and a proxy or
 * a client can send any host. Parameters that lead to another site are removed.
 */
function withPublicOrigin({ url: { pathname, search }, headers: sent, context }: HandlerRequest): Request {
  const url = new URL(pathname + search, settings().appUrl);
  for (const name of ["__clerk_redirect_url", "__clerk_synced"]) url.searchParams.delete(name);
  const headers = new Headers([...sent]);
  for (const name of [...headers.keys()]) {
    if (/^(?:x-forwarded-|cloudfront-forwarded-|forwarded$)/.test(name)) headers.delete(name);
  }
  headers.set("host", url.host);
  return new Request(url, { method: context.method, headers });
}

/** Whether Clerk's library will call Clerk for this request: to resolve a handshake nonce or use a refresh token. */
function callsClerk({ url, headers }: Request): boolean {
  const inCookies = /__clerk_handshake_nonce|__refresh/.test(headers.get("cookie") ?? "");
  return inCookies || new URL(url).searchParams.has("__clerk_handshake_nonce");
}
