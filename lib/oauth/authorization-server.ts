import { type KeyObject, sign } from "node:crypto";
import type Provider from "oidc-provider";
import type { Account, Configuration, errors, JWTStructured, KoaContextWithOIDC } from "oidc-provider";
import { keyRing } from "@/lib/auth/key-ring";
import { recordSessionUse } from "@/lib/auth/last-seen";
import { findCurrentSession } from "@/lib/auth/session";
import { settings } from "@/lib/config/settings";
import { ApiError } from "@/lib/http/errors";
import { connectEndpoints, pages } from "@/lib/http/pages";
import { OAuthState, withStore } from "@/lib/oauth/adapter";
import { appSessionId, endAppSession } from "@/lib/oauth/app-session";
import { ClientStore, clientDefaults, nativeClient } from "@/lib/oauth/clients";
import { fetchMetadataDocument } from "@/lib/oauth/metadata-document";
import { findFault, type Refusal } from "@/lib/oauth/refused-request";
import { accountScope, resourceAddresses } from "@/lib/oauth/resources";
import { lifetimes } from "@/lib/oauth/token-lifetimes";
import { TokenRotation } from "@/lib/oauth/token-rotation";
import { loadLibrary } from "@/lib/runtime/load-library";
import { log } from "@/lib/runtime/log";

/** The library. It is large, so it is loaded for the first request that needs it. */
type Library = typeof import("oidc-provider");

let made: Provider | undefined;

/**
 * The authorization server of this process: OAuth 2.1 by RFC 6749, 7009, 7636, 8252, 8628, 8707 and 9207. Throws if the
 * signing keys cannot be read; the next call tries again.
 */
export async function authorizationServer(): Promise<Provider> {
  if (!made) {
    const { publicKey } = await withStore(() => keyRing().signing(Date.now()));
    const library = await loadLibrary(() => import("oidc-provider"));
    const { default: Provider } = library;
    made = new Provider(settings().appUrl, configuration(library, publicKey));
    // Requests reach it in process, and the bridge sets X-Forwarded-Proto to the scheme of `APP_URL`.
    made.proxy = true;
    made.on("server_error", (_, failure) => {
      TokenRotation.current().failure = failure;
      if (!(failure instanceof ApiError)) log().error({ err: failure }, "the authorization server failed");
    });
  }
  return made;
}

/** The owner's grants. The library destroys one when a code is used twice, and when an app revokes its token. */
class Grants extends OAuthState {
  override async destroy(grantId: string): Promise<void> {
    const { endsSessionAs } = TokenRotation.current();
    await withStore((db) => endAppSession(db, grantId, endsSessionAs, Date.now()));
    await super.destroy(grantId);
  }
}

function stateOf(kind: string): OAuthState {
  if (kind === "Client") return new ClientStore(kind);
  return kind === "Grant" ? new Grants(kind) : new OAuthState(kind);
}

function configuration(library: Library, publicKey: KeyObject): Configuration {
  const { errors } = library;
  const { connectClients } = settings();
  return {
    adapter: stateOf,
    clients: [nativeClient],
    clientDefaults,
    clientAuthMethods: ["none"],
    clientBasedCORS: () => true,
    claims: {},
    scopes: [],
    responseTypes: ["code"],
    pkce: { required: () => true },
    subjectTypes: ["public"],
    jwks: { keys: [makeRingKey(library, publicKey)] },
    cookies: { names: serverCookies },
    routes: {
      authorization: connectEndpoints.authorization.path,
      token: connectEndpoints.token.path,
      device_authorization: connectEndpoints.device.path,
      revocation: connectEndpoints.revocation.path,
      // Device codes are typed on our own page.
      code_verification: pages.connect.path,
    },
    ttl: {
      AccessToken: lifetimes.accessToken,
      AuthorizationCode: lifetimes.code,
      DeviceCode: lifetimes.deviceCode,
      Interaction: lifetimes.request,
      Session: lifetimes.request,
      Grant: lifetimes.grant,
      RefreshToken: lifetimes.refreshToken,
    },
    interactions: { policy: promptAlways(library), url: () => pages.connect.path },
    findAccount,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    formats: { customizers: { jwt: asSessionToken } },
    renderError: (ctx, _, failure) => {
      ctx.body = explain(ctx.query.client_id, failure, library);
    },
    fetch: fetchMetadataDocument,
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true },
      deviceFlow: { enabled: true, deviceInfo: (ctx) => ({ network: ctx.get(networkHeader) || undefined }) },
      externalSigningSupport: { enabled: true, ack: "experimental-01" },
      clientIdMetadataDocument: {
        enabled: connectClients.length > 0,
        ack: "draft-02",
        allowFetch: async (_: unknown, clientId: string) => connectClients.includes(clientId),
        cacheDuration: { min: lifetimes.request, max: 24 * 60 * 60 },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_, __, oneOf) => oneOf ?? (resourceAddresses()[0] as string),
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_, resource) => {
          if (!resourceAddresses().includes(resource)) throw new errors.InvalidTarget();
          return {
            audience: resource,
            scope: accountScope,
            accessTokenFormat: "jwt",
            accessTokenTTL: lifetimes.accessToken,
            jwt: { sign: { alg: "RS256" } },
          };
        },
      },
    },
  };
}

/**
 * Makes a key for the library that signs with the key ring: the key that the token's header names signs it, so the
 * library never holds a private key.
 *
 * @param publicKey - the public key of any key in the ring; the library reads the key type from it
 */
function makeRingKey({ ExternalSigningKey }: Library, publicKey: KeyObject) {
  class RingKey extends ExternalSigningKey {
    override get alg(): string {
      return "RS256";
    }

    override keyObject(): KeyObject {
      return publicKey;
    }

    override async sign(data: Uint8Array): Promise<Buffer> {
      const [header = ""] = Buffer.from(data).toString().split(".");
      const { kid } = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid: string };
      const key = await keyRing().find(kid, Date.now());
      if (!key) throw new Error("the key that was to sign has been revoked");
      return sign("sha256", data, key.privateKey);
    }
  }
  return new RingKey();
}

/** The header that passes the client's network to the library, because in-process requests have no connection. */
export const networkHeader = "x-office-network";

/** The library's cookies. They never reach a browser: the bridge replaces them by one of ours. */
export const serverCookies = {
  session: "session",
  interaction: "interaction",
  resume: "resume",
} as const;

/** Requires a click for each grant, also for an app that was approved before. */
function promptAlways({ interactionPolicy: { Check, base } }: Library) {
  const policy = base();
  const approval = new Check(
    "approval",
    "the owner approves each time",
    "interaction_required",
    ({ oidc }) => (oidc.result?.consent ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT),
  );
  policy.get("consent")?.checks.add(approval);
  return policy;
}

/** The account of a token, as the library keeps it until it has made the token. */
type TokenAccount = Account & { sessionEndsAtMs?: number };

/**
 * Called for every token issued, which is a use of the session. Returns undefined if the session has ended, also because
 * the account was deleted.
 */
async function findAccount(
  _: KoaContextWithOIDC,
  subject: string,
  token?: { grantId?: string | undefined },
): Promise<TokenAccount | undefined> {
  const account = { accountId: subject, claims: async () => ({ sub: subject }) };
  if (!token?.grantId) return account;
  const id = appSessionId(token.grantId);
  const nowMs = Date.now();
  const session = await withStore((db) => findCurrentSession(db, id, nowMs));
  if (!session) return undefined;
  const sessionEndsAtMs = recordSessionUse(id, session, nowMs);
  TokenRotation.current().sessionEndsAtMs = sessionEndsAtMs;
  return { ...account, sessionEndsAtMs };
}

/** Makes an access token a session token: the same claims and verifier, with the app's session and one resource. */
async function asSessionToken(
  { oidc }: KoaContextWithOIDC,
  token: object,
  jwt: JWTStructured,
): Promise<void> {
  const { grantId = "" } = token as { grantId?: string };
  const { sub, iat, aud, jti, scope, client_id } = jwt.payload;
  const { sessionEndsAtMs = 0 } = oidc.account as TokenAccount;
  const exp = Math.min(Number(jwt.payload.exp), Math.floor(sessionEndsAtMs / 1000));
  const key = await withStore(() => keyRing().signing(Date.now()));
  jwt.header = { ...jwt.header, typ: "JWT", kid: key.kid };
  const sid = appSessionId(grantId);
  jwt.payload = { iss: key.issuer, sub, sid, iat, nbf: iat, exp, aud, jti, scope, client_id };
}

/** Explains an error that must not be redirected to an app, because the app or its redirect URI is unknown. */
function explain(clientId: unknown, failure: Error, { errors }: Library): Refusal {
  const isOfClient =
    failure instanceof errors.InvalidClient || failure instanceof errors.InvalidClientMetadata;
  const { error_description = failure.message, error_detail } = failure as Partial<errors.OIDCProviderError>;
  const why = error_detail ?? rootCause(failure)?.message;
  return {
    fault: isOfClient ? findFault(String(clientId)) : "app",
    reason: why ? `${error_description}: ${why}` : error_description,
  };
}

function rootCause({ cause }: Error): Error | undefined {
  return cause instanceof Error ? (rootCause(cause) ?? cause) : undefined;
}
