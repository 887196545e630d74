import type { AdapterPayload, ClientMetadata } from "oidc-provider";
import { readableName } from "@/lib/auth/readable-name";
import { unnamedProgram } from "@/lib/auth/sessions/session-name";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { OAuthState } from "@/lib/oauth/adapter";
import { findKnownClient } from "@/lib/oauth/operator-clients";
import { findRedirectFault } from "@/lib/oauth/redirect-uri";
import { isRegistered, isUnlistedDocument } from "@/lib/oauth/registered-clients";

export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/**
 * The defaults of client metadata. Clients are public: PKCE and the redirect URI bind a code to its client. They are
 * native, because only native clients may use any loopback port, and neither Claude Code nor Codex declares that it is.
 */
export const clientDefaults = {
  application_type: "native",
  token_endpoint_auth_method: "none",
  response_types: ["code"],
  grant_types: ["authorization_code", "refresh_token", deviceGrant],
} as const satisfies Partial<ClientMetadata>;

/** What differs for a client without a redirect URI, which only asks by device code (RFC 7591 §2). */
export const withoutRedirect = {
  response_types: [],
  grant_types: ["refresh_token", deviceGrant],
} satisfies Partial<ClientMetadata>;

/**
 * The shared client for a program on the person's own computer that has no metadata document and that the operator has
 * not added. Loopback redirects match any port (RFC 8252 §7.3); a program that cannot listen uses a device code
 * (RFC 8628).
 */
export const nativeClient = {
  client_id: "native",
  client_name: unnamedProgram,
  redirect_uris: ["/", "/callback", "/oauth/callback", "/mcp/oauth/callback"].flatMap((path) => [
    `http://127.0.0.1${path}`,
    `http://[::1]${path}`,
    `http://localhost${path}`,
  ]),
} satisfies ClientMetadata;

/** The name of a client that registered without one. */
export const unnamedClient = "An app that gave no name";

const maxNameCharacters = 80;

/** The name that a client gives itself, of which people can read 80 characters; it may be anything. */
export function readClientName(claimed: unknown): string {
  const name = typeof claimed === "string" ? readableName(claimed) : undefined;
  return name === undefined ? unnamedClient : [...name].slice(0, maxNameCharacters).join("").trim();
}

/**
 * The clients that the authorization server knows without a fetch: those that the operator added, those that registered
 * (RFC 7591), and holders.
 */
export class ClientStore extends OAuthState {
  override async find(id: string): Promise<AdapterPayload | undefined> {
    const unread = this.findUnread(id);
    if (unread) return unread;
    const mayBeKnown = settings().connectRegistration || !isRegistered(id);
    const known = mayBeKnown ? await findKnownClient(await store(), id, Date.now()) : undefined;
    if (!known) return this.findHolder(id);
    // The rules may be stricter than when it was stored.
    const redirect_uris = known.redirectUris.filter((uri) => !findRedirectFault(uri));
    const dpop_bound_access_tokens = "mustBind" in known && known.mustBind === true;
    const own = { client_id: known.id, client_name: known.name, redirect_uris, dpop_bound_access_tokens };
    return redirect_uris.length > 0 ? own : { ...own, ...withoutRedirect };
  }

  /**
   * The client of the code or token that a request carries, if its metadata document is listed. It has no secret, and its
   * owner approved it, so it goes on while the host of its document is away.
   */
  private findHolder(id: string): AdapterPayload | undefined {
    const { credential } = this.current() ?? {};
    if (credential?.clientId !== id || !settings().connectClients.includes(id)) return undefined;
    const { redirectUri, mustBind } = credential;
    const own = { client_id: id, ...(redirectUri && { redirect_uris: [redirectUri] }) };
    return { ...nativeClient, ...own, dpop_bound_access_tokens: mustBind === true };
  }

  /**
   * The client of an authorization request whose document is not listed. What it asks for waits until its owner has signed in,
   * for whom the document is read, which may name other redirect URIs than before. Until then nothing is fetched or redirected.
   */
  private findUnread(id: string): AdapterPayload | undefined {
    const { redirectUri } = this.current() ?? {};
    const isRead = !redirectUri || !isUnlistedDocument(id) || findRedirectFault(redirectUri);
    return isRead ? undefined : { client_id: id, redirect_uris: [redirectUri] };
  }
}
