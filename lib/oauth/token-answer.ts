import type { KoaContextWithOIDC } from "oidc-provider";
import { requireSigningKey } from "@/lib/auth/keys/key-ring";
import { tokenNetwork } from "@/lib/auth/sessions/session-network";
import { findRepeat, type ProofFault } from "@/lib/auth/tokens/proof";
import { mintSessionToken } from "@/lib/auth/tokens/session-token";
import { oauthSeconds } from "@/lib/config/lifetimes";
import { store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import type { ResponseParts } from "@/lib/http/response";
import { appSessionId, describeEnd } from "@/lib/oauth/app-session";
import type { TokenSession } from "@/lib/oauth/authorization-server";
import type { Exchange, IssuedToken } from "@/lib/oauth/exchange";
import { containsItself } from "@/lib/oauth/registered-clients";
import { narrowResource } from "@/lib/oauth/resources";
import { rotateTokens } from "@/lib/oauth/token-rotation";

/** Issues the tokens that the library allows, which are not those that it has made. */
export async function issueTokens(
  { client, headers }: Call,
  form: URLSearchParams,
  asked: Exchange,
  answer: KoaContextWithOIDC,
): Promise<ResponseParts> {
  const { credential, issued } = asked;
  const { AccessToken: accessToken, Account: account, ...entities } = answer.oidc.entities;
  const used =
    entities.RotatedRefreshToken ??
    entities.AuthorizationCode ??
    entities.DeviceCode ??
    entities.RefreshToken;
  if (answer.status !== 200 || !accessToken || !account || !used) return refuse(answer, asked, form);
  const nowMs = Date.now();
  // The resource is what the owner approved, or the part of it that the client names.
  const granted = [credential?.resource ?? accessToken.aud ?? []].flat().map(String);
  const aud = narrowResource(granted, form.getAll("resource"));
  if (!aud) {
    const error_description = "The owner approved no such resource.";
    return { status: 400, body: { error: "invalid_target", error_description } };
  }
  const { endsAtMs, ...session } = account.session as TokenSession;
  const { accountId: subject, grantId = "", jti, scope, clientId: client_id = "", jkt } = accessToken;
  const proof = jkt && { jwt: headers.get("dpop") ?? "", thumbprint: jkt, owner: subject };
  const fault = proof && (await findRepeat(proof, nowMs));
  if (fault) return refuseProof(fault);
  const terms = {
    subject,
    sessionId: appSessionId(grantId),
    endsAtMs: Math.min(nowMs + oauthSeconds.accessToken * 1000, endsAtMs),
    extra: {
      aud,
      jti,
      scope,
      // Windows' vault, in which many clients keep what we answer, takes 1,280 characters (apify/mcpc#409).
      ...(!containsItself(client_id) && { client_id }),
      ...(jkt && { cnf: { jkt } }),
    },
  };
  // Before anything is used up.
  const minted = await mintSessionToken(terms, await requireSigningKey(nowMs), nowMs);
  const isBound = jkt !== undefined;
  const network = tokenNetwork(client);
  const rotation = { used, grantId, issued: issued && bindTo(jkt, issued), network, isBound, ...session };
  const rotated = await rotateTokens(await store(), rotation, nowMs);
  if (rotated === "used before") return refuse(answer, asked, form, usedBefore[used.kind]);
  const { refresh_token: made, ...body } = answer.body as { refresh_token?: string };
  const refresh_token = rotated.successor ?? made;
  return render(answer, {
    ...body,
    access_token: minted.token,
    ...(refresh_token && {
      refresh_token,
      refresh_token_expires_in: Math.floor((endsAtMs - nowMs) / 1000),
    }),
  });
}

/** The refresh token to store: one that was bound to no key is bound to the first that it is used with. */
function bindTo(jkt: string | undefined, issued: IssuedToken): IssuedToken {
  return jkt ? { ...issued, payload: JSON.stringify({ ...JSON.parse(issued.payload), jkt }) } : issued;
}

function refuseProof({ error, description, nonce }: ProofFault): ResponseParts {
  const body = { error, error_description: description };
  return { status: 400, body, headers: nonce ? ["dpop-nonce", nonce] : [] };
}

/** Refuses a code or token: because its session has ended, for one of our reasons, or for the library's. */
async function refuse(
  answer: KoaContextWithOIDC,
  { credential, refusal }: Exchange,
  form: URLSearchParams,
  because?: string,
): Promise<ResponseParts> {
  const ended =
    because || answer.status === 400 ? await describeEnd(credential, form.get("client_id")) : undefined;
  // The library says the same of each, which helps neither an app's maker nor its owner.
  const isGrant = Object(answer.body).error === "invalid_grant";
  const error_description = ended ?? because ?? (isGrant ? (credential ? refusal : unknownGrant) : undefined);
  if (!error_description) return render(answer);
  return { status: 400, body: { error: "invalid_grant", error_description } };
}

const unknownGrant = "It is not known here, or has expired. Ask the owner again.";

const usedBefore = {
  AuthorizationCode: "It was used before. Ask the owner again.",
  DeviceCode: "It was used before. Ask the owner again.",
  RefreshToken:
    "It was used before, and the token that replaced it too. Use the newest one, which another process of yours may have stored.",
};

/** The library's response headers that are returned; the rest are hop-by-hop headers, or the handler sets them. */
const returnedHeaders = ["location", "www-authenticate", "dpop-nonce"];

/** What the library answers, or another body with its status and headers. */
export function render(
  { status, response, body: own }: KoaContextWithOIDC,
  body: unknown = own,
): ResponseParts {
  // Only a client whose clock differs needs one.
  if (status === 200) response.remove("dpop-nonce");
  const mediaType = response.get("content-type");
  return {
    status,
    body: body || null,
    ...(mediaType && { mediaType }),
    headers: returnedHeaders.flatMap((name) => (response.get(name) ? [name, response.get(name)] : [])),
  };
}
