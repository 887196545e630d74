import { generateKeyPairSync } from "node:crypto";
import type Provider from "oidc-provider";
import type { Account, AdapterPayload, Configuration, errors, KoaContextWithOIDC } from "oidc-provider";
import { approvedKind, findCurrentSession } from "@/lib/auth/sessions/session";
import { clientNetwork, readNetworks } from "@/lib/auth/sessions/session-network";
import { recordSessionUse } from "@/lib/auth/sessions/session-use";
import { nonceSecret, proofAlgorithms } from "@/lib/auth/tokens/proof";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { pages } from "@/lib/http/register/pages";
import { AccessTokens, OAuthState, RefreshTokens } from "@/lib/oauth/adapter";
import { Codes, Requests } from "@/lib/oauth/answered-requests";
import { appEndsFrom, appSessionId, endAppSession } from "@/lib/oauth/app-session";
import { pageOfRequest } from "@/lib/oauth/browser-requests";
import { fetchMetadataDocument } from "@/lib/oauth/client-metadata-document";
import { ClientStore, clientDefaults, nativeClient } from "@/lib/oauth/clients";
import { type Exchange, exchangeOf } from "@/lib/oauth/exchange";
import { findRedirectFault, spellingsOf } from "@/lib/oauth/redirect-uri";
import { findFault, type Refusal } from "@/lib/oauth/refused-request";
import { accountScope, resolveResource } from "@/lib/oauth/resources";
import { loadLibrary } from "@/lib/runtime/load-library";

/** The library. It is large, so it is loaded for the first request that needs it. */
type Library = typeof import("oidc-provider");

let made: Provider | undefined;

/** The authorization server of this process: OAuth 2.1 by RFC 6749, 7009, 7636, 8252, 8628, 8707, 9207 and 9449. */
export async function authorizationServer(): Promise<Provider> {
  if (!made) {
    const library = await loadLibrary(() => import("oidc-provider"));
    const { default: Provider } = library;
    made = new Provider(settings().appUrl, configuration(library));
    const { prototype } = made.Client;
    const { redirectUriAllowed } = prototype;
    // A native client may name any loopback port, and ours is one (RFC 8252 §7.3).
    prototype.redirectUriAllowed = function (uri) {
      return !findRedirectFault(uri) && spellingsOf(uri).some((one) => redirectUriAllowed.call(this, one));
    };
    // Requests reach it in process, and the bridge sets X-Forwarded-Proto to the scheme of `APP_URL`.
    made.proxy = true;
    made.on("server_error", (ctx, failure) => {
      const exchange = exchangeOf(ctx);
      if (exchange) exchange.failure = failure;
    });
    made.on("authorization.error", (ctx, { error_description }) => {
      const exchange = exchangeOf(ctx);
      if (exchange) exchange.refusal = error_description;
    });
    made.on("grant.error", (ctx, { error_detail }) => {
      const exchange = exchangeOf(ctx);
      if (exchange) exchange.refusal = error_detail;
    });
  }
  return made;
}

/** The owner's grants. The library destroys one when a code is used twice, and when an app revokes its token. */
class Grants extends OAuthState {
  override async find(grantId: string): Promise<AdapterPayload | undefined> {
    const { grant } = this.current() ?? {};
    return grant?.jti === grantId ? grant : super.find(grantId);
  }

  override async destroy(grantId: string): Promise<void> {
    const exchange = this.current();
    if (exchange) await endAppSession(await store(), grantId, exchange.endsSessionAs, Date.now());
    await super.destroy(grantId);
  }
}

const states: Record<string, typeof OAuthState> = {
  Client: ClientStore,
  Grant: Grants,
  Interaction: Requests,
  AuthorizationCode: Codes,
  RefreshToken: RefreshTokens,
  AccessToken: AccessTokens,
};

function configuration(library: Library): Configuration {
  const { errors } = library;
  const { connectClients } = settings();
  return {
    adapter: (kind: string) => new (states[kind] ?? OAuthState)(kind, () => currentExchange(library)),
    clients: [nativeClient],
    // The library insists on a key for ID tokens, which are not issued. Access tokens are session tokens of our own key ring.
    clientDefaults: { ...clientDefaults, id_token_signed_response_alg: "Ed25519" },
    jwks: { keys: [generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })] },
    clientAuthMethods: ["none"],
    claims: {},
    scopes: [],
    responseTypes: ["code"],
    enabledJWA: { dPoPSigningAlgValues: [...proofAlgorithms] },
    pkce: { required: () => true },
    subjectTypes: ["public"],
    routes: {
      authorization: connectEndpoints.authorization.path,
      token: connectEndpoints.token.path,
      device_authorization: connectEndpoints.device.path,
      revocation: connectEndpoints.revocation.path,
      // Device codes are typed on our own page.
      code_verification: pages.connect.path,
    },
    ttl: {
      AccessToken: oauthSeconds.accessToken,
      AuthorizationCode: oauthSeconds.code,
      DeviceCode: oauthSeconds.deviceCode,
      Interaction: oauthSeconds.request,
      Session: oauthSeconds.request,
      // Longer once its session begins.
      Grant: oauthSeconds.request,
      RefreshToken: oauthSeconds.refreshToken,
    },
    // All clients are native, so the library asks for each grant, also for an app that was approved before.
    interactions: { url: (_, { uid }) => pageOfRequest(uid) },
    findAccount,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    // A token that is bound to a key needs no chain: a copy of it is worth nothing.
    rotateRefreshToken: ({ oidc: { entities } }) => !entities.RefreshToken?.jkt,
    expiresWithSession: async () => false,
    renderError: (ctx, _, failure) => {
      ctx.body = explain(ctx.query.client_id, failure, library);
    },
    fetch: fetchMetadataDocument,
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      // Repeated proofs are refused where tokens are issued, and at the resources, from one memory.
      dPoP: { enabled: true, nonceSecret: nonceSecret(), allowReplay: true },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true },
      deviceFlow: { enabled: true, deviceInfo },
      clientIdMetadataDocument: {
        enabled: connectClients.length > 0,
        ack: "draft-02",
        allowFetch: async (_: unknown, clientId: string) => connectClients.includes(clientId),
        cacheDuration: { min: oauthSeconds.request, max: 24 * 60 * 60 },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_, __, granted = []) => granted,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_, resource) => {
          if (!resolveResource([resource])) throw new errors.InvalidTarget();
          return { audience: resource, scope: accountScope };
        },
      },
    },
  };
}

/** The network of a device that asks for a code. */
function deviceInfo(ctx: KoaContextWithOIDC): { network?: string | undefined } {
  const { client } = exchangeOf(ctx) ?? {};
  return { network: client && clientNetwork(client) };
}

/** The exchange that the library answers, with what its client asks of its tokens. */
function currentExchange({ default: { ctx } }: Library): Exchange | undefined {
  const exchange = exchangeOf(ctx);
  if (exchange) exchange.mustBind = ctx?.oidc?.client?.dpopBoundAccessTokens === true;
  return exchange;
}

/** What issuing tokens takes from the session that they are of. */
export type TokenSession = {
  startsSession: boolean;
  endsAtMs: number;
  lastNetwork: string | undefined;
  wasBound: boolean;
};

/**
 * Called for every token issued, which is a use of the session, or starts it. Returns undefined if the session has ended,
 * also because the account was deleted.
 */
async function findAccount(
  ctx: KoaContextWithOIDC,
  subject: string,
  token?: { grantId?: string | undefined },
): Promise<(Account & { session?: TokenSession }) | undefined> {
  const account = { accountId: subject, claims: async () => ({ sub: subject }) };
  if (!token?.grantId) return account;
  const id = appSessionId(token.grantId);
  const nowMs = Date.now();
  const { credential, session: known } = exchangeOf(ctx) ?? {};
  // A request may carry another code or token besides.
  const isKnown = credential?.grantId === token.grantId;
  const session = isKnown ? known : await findCurrentSession(await store(), id, nowMs);
  if (!session) return undefined;
  const startsSession = session.kind === approvedKind;
  const endsAtMs = startsSession ? appEndsFrom(nowMs).expires_at_ms : recordSessionUse(id, session, nowMs);
  const [lastNetwork] = readNetworks(session.renewed_from);
  const wasBound = session.bound_at_ms !== null;
  return { ...account, session: { startsSession, endsAtMs, lastNetwork, wasBound } };
}

/** Explains an error that must not be redirected to an app, because the app or its redirect URI is unknown. */
function explain(clientId: unknown, failure: Error, { errors }: Library): Refusal {
  const isOfClient =
    failure instanceof errors.InvalidClient || failure instanceof errors.InvalidClientMetadata;
  const { error_description = failure.message, error_detail } = failure as Partial<errors.OIDCProviderError>;
  const why = error_detail ?? rootCause(failure)?.message;
  const isOver = failure instanceof errors.SessionNotFound;
  return {
    fault: isOfClient ? findFault(String(clientId)) : isOver ? "over" : "app",
    reason: why ? `${error_description}: ${why}` : error_description,
  };
}

function rootCause({ cause }: Error): Error | undefined {
  return cause instanceof Error ? (rootCause(cause) ?? cause) : undefined;
}
