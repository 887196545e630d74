import { oauthBounds } from "@/lib/config/limits";
import { readCookie } from "@/lib/http/cookies";
import { tooManyRequests } from "@/lib/http/errors";
import { readKnownBrowser } from "@/lib/http/known-browser";
import type { PageRequest } from "@/lib/http/page-handler";
import { connectEndpoints } from "@/lib/http/pages";
import { hash, OAuthState } from "@/lib/oauth/adapter";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import { counter } from "@/lib/rate-limit/rate-limit";

/**
 * Spends one request of whoever asks to be let in: a browser that signed in before has an allowance of its own, so has
 * an address that can be told from others, and all the rest have a wide one together. Throws a 429 past it.
 */
export async function spendRequest(headers: Headers): Promise<void> {
  const { ofOne, ofAllUnknown } = oauthBounds.requests;
  const client = readKnownBrowser(headers) ?? knownClientKey(headers);
  if (client) await consume("connect", ofOne, client);
  else await consume("connect-of-unknown", ofAllUnknown, "all");
}

/**
 * Spends one request at the authorization server. What it has handed out, while it is live, has an allowance of its
 * own: what strangers do stops nobody who was let in. Throws a 429 past it.
 */
export async function spendExchange(call: PageRequest): Promise<void> {
  if (call.context.method === "OPTIONS") return; // a preflight carries no credential, and keeps nothing
  const credential = readCredential(call);
  const live = credential && (await new OAuthState(credential.kind).find(credential.id));
  if (!live) await spendRequest(call.headers);
  else if (credential.kind === "DeviceCode")
    await consume("connect-polls", oauthBounds.polls, hash(credential.id));
  else await consume("connect-refreshes", oauthBounds.refreshes, live.grantId ?? hash(credential.id));
}

/** The fields of a form that carry what was handed out (RFC 6749 §4.1.3, §6, RFC 7009 §2.1, RFC 8628 §3.4). */
const credentialFields = {
  refresh_token: "RefreshToken",
  token: "RefreshToken",
  code: "AuthorizationCode",
  device_code: "DeviceCode",
};

function readCredential({ url, headers, body }: PageRequest): { kind: string; id: string } | undefined {
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
