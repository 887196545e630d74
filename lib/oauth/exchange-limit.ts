import { oauthBounds } from "@/lib/config/limits";
import type { Call } from "@/lib/http/call";
import { requireWithinLimit } from "@/lib/http/checks/limits";
import { tooManyRequests } from "@/lib/http/errors";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { OAuthState } from "@/lib/oauth/adapter";
import { findRequest } from "@/lib/oauth/browser-requests";
import { TokenRotation } from "@/lib/oauth/token-rotation";
import { counter } from "@/lib/rate-limit/rate-limit";
import { hashSecret } from "@/lib/runtime/secret";

/**
 * Counts one request to the authorization server. A valid credential that the server has issued has its own rate limit,
 * so that a flood by others does not stop a connected app. Requests with one that is not valid do not use up those that
 * connect: a few devices that keep polling with an expired code must not stop the other clients at their address. Throws
 * a 429 when the limit is reached, or a 503 if the store fails.
 */
export async function consumeExchangeLimit(call: Call): Promise<void> {
  const credential = readCredential(call);
  if (!credential) {
    // The limit of their entry is that of requests without a credential.
    return call.route?.limit === "connect" ? undefined : requireWithinLimit(call, "connect");
  }
  const { kind, id } = credential;
  const name = `connect-${kind}`;
  const live = await new OAuthState(kind).find(id);
  TokenRotation.current().credential = live;
  if (!live) return requireWithinLimit(call, "connect", `${name}-refused`);
  const { windowSeconds, credentials } = oauthBounds;
  // A token that was used before counts for itself: a process of an agent that sends it for ever does not stop the others.
  const isNew = kind === "RefreshToken" && live.usedAtMs === null;
  const key = (isNew && live.grantId) || hashSecret("connect", id);
  const spent = await counter(name, credentials[kind], windowSeconds).consume(key);
  const { allowed, retryAfterSeconds = windowSeconds } = spent;
  if (!allowed) throw tooManyRequests(retryAfterSeconds);
}

type CredentialKind = keyof typeof oauthBounds.credentials;

/** The form fields that carry an issued credential (RFC 6749 §4.1.3, §6, RFC 7009 §2.1, RFC 8628 §3.4). */
const credentialFields: Record<string, CredentialKind> = {
  refresh_token: "RefreshToken",
  token: "RefreshToken",
  code: "AuthorizationCode",
  device_code: "DeviceCode",
};

function readCredential(call: Call): { kind: CredentialKind; id: string } | undefined {
  if (call.path === connectEndpoints.resume.path) {
    const id = findRequest(call.headers, call.query.get("request"));
    return id ? { kind: "Interaction", id } : undefined;
  }
  for (const [name, kind] of Object.entries(credentialFields)) {
    const id = call.fields.get(name);
    if (id) return { kind, id };
  }
  return undefined;
}
