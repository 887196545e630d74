import { oauthBounds } from "@/lib/config/limits";
import { readCookie } from "@/lib/http/cookies";
import { tooManyRequests } from "@/lib/http/errors";
import type { HandlerRequest } from "@/lib/http/handler";
import { readKnownBrowser } from "@/lib/http/known-browser";
import { connectEndpoints } from "@/lib/http/pages";
import { hash, OAuthState } from "@/lib/oauth/adapter";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import { counter } from "@/lib/rate-limit/rate-limit";

/**
 * Counts one authorization request. A browser that signed in before has its own rate limit, and so has a known client
 * address; all other clients share a larger one. Throws a 429 when the limit is reached.
 */
export async function consumeRequestLimit(headers: Headers): Promise<void> {
  const { ofOne, ofAllUnknown } = oauthBounds.requests;
  const client = readKnownBrowser(headers) ?? knownClientKey(headers);
  if (client) await consume("connect", ofOne, client);
  else await consume("connect-of-unknown", ofAllUnknown, "all");
}

/**
 * Counts one request to the authorization server. A valid credential that the server has issued has its own rate limit,
 * so that a flood by others does not stop a connected app. Throws a 429 when the limit is reached.
 */
export async function consumeExchangeLimit(call: HandlerRequest): Promise<void> {
  const credential = readCredential(call);
  const live = credential && (await new OAuthState(credential.kind).find(credential.id));
  if (!live) await consumeRequestLimit(call.headers);
  else if (credential.kind === "DeviceCode")
    await consume("connect-polls", oauthBounds.polls, hash(credential.id));
  else await consume("connect-refreshes", oauthBounds.refreshes, live.grantId ?? hash(credential.id));
}

/** The form fields that carry an issued credential (RFC 6749 §4.1.3, §6, RFC 7009 §2.1, RFC 8628 §3.4). */
const credentialFields = {
  refresh_token: "RefreshToken",
  token: "RefreshToken",
  code: "AuthorizationCode",
  device_code: "DeviceCode",
};

function readCredential({ url, headers, body }: HandlerRequest): { kind: string; id: string } | undefined {
  if (url.pathname === connectEndpoints.resume.path) {
    const id = readCookie(headers, "office-request");
    return id ? { kind: "Interaction", id } : undefined;
  }
  const fields = new URLSearchParams(body.toString());
  for (const [name, kind] of Object.entries(credentialFields)) {
    const id = fields.get(name);
    if (id) return { kind, id };
  }
  return undefined;
}

async function consume(name: string, limit: number, key: string): Promise<void> {
  const { windowSeconds } = oauthBounds;
  const { allowed, retryAfterSeconds = windowSeconds } = await counter(name, limit, {
    windowSeconds,
  }).consume(key, performance.now());
  if (!allowed) {
    throw tooManyRequests({ retryAfterSeconds });
  }
}
