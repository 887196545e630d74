import { callClerk } from "@/lib/auth/clerk/clerk-calls";
import type { ClerkSettings } from "@/lib/config/clerk-settings";
import { settings } from "@/lib/config/settings";
import type { Call } from "@/lib/http/call";
import { pages } from "@/lib/http/register/pages";
import { loadLibrary } from "@/lib/runtime/load-library";

/**
 * Lets Clerk renew the session cookie of a browser, by a redirect to its Frontend API and back. Returns the headers of its
 * answer. It authorizes nothing.
 */
export async function renewAtClerk(call: Call, signIn: ClerkSettings): Promise<Headers> {
  const request = withPublicOrigin(call);
  const ask = async () => {
    const { clerkClient } = await loadLibrary(() => import("@/lib/runtime/clerk-client"));
    return clerkClient(signIn).authenticateRequest(request, {
      jwtKey: signIn.publicKey.export({ type: "spki", format: "pem" }).toString(),
      authorizedParties: signIn.authorizedParties,
      signInUrl: pages.signIn.path,
      signUpUrl: pages.invitation.path,
    });
  };
  // The library calls Clerk to resolve a handshake nonce and to use a refresh token.
  const { searchParams } = new URL(request.url);
  const isCall =
    searchParams.has("__clerk_handshake_nonce") ||
    /__clerk_handshake_nonce|__refresh/.test(request.headers.get("cookie") ?? "");
  const { headers } = await (isCall ? callClerk(call.client, ask) : ask());
  return headers;
}

/**
 * The request with `APP_URL` as its origin. Clerk redirects the browser back to the host of the request, and a proxy or
 * a client can send any host. Parameters that lead to another site are removed.
 */
function withPublicOrigin({ url: { pathname, search }, headers: sent, method }: Call): Request {
  const url = new URL(pathname + search, settings().appUrl);
  for (const name of ["__clerk_redirect_url", "__clerk_synced"]) url.searchParams.delete(name);
  const headers = new Headers([...sent]);
  for (const name of [...headers.keys()]) {
    if (/^(?:x-forwarded-|cloudfront-forwarded-|forwarded$)/.test(name)) headers.delete(name);
  }
  headers.set("host", url.host);
  return new Request(url, { method, headers });
}
