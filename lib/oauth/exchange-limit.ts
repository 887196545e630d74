import { oauthBounds } from "@/lib/config/limits";
import type { Call } from "@/lib/http/call";
import { requireWithinLimit } from "@/lib/http/checks/limits";
import { tooManyRequests } from "@/lib/http/errors";
import { connectEndpoints } from "@/lib/http/register/oauth";
import { findCredential } from "@/lib/oauth/adapter";
import type { Exchange } from "@/lib/oauth/exchange";
import { counter } from "@/lib/rate-limit/rate-limit";
import { hashSecret } from "@/lib/runtime/secret";

/**
 * Counts one request to the authorization server. A valid credential that the server has issued has its own rate limit,
 * so that a flood by others does not stop a connected app. Requests with one that is not valid do not use up those that
 * connect: a few devices that keep polling with an expired code must not stop the other clients at their address. Throws
 * a 429 when the limit is reached, or a 503 if the store fails.
 *
 * @returns the payload of the valid credential, its session and its grant
 */
export async function consumeExchangeLimit(
  call: Call,
  form: URLSearchParams,
  uid: string | undefined,
): Promise<Partial<Pick<Exchange, "credential" | "session" | "grant">>> {
  const sent = findSent(call, form, uid);
  if (!sent) {
    // The limit of their entry is that of requests without a credential.
    if (call.route?.limit !== "connect") await requireWithinLimit(call, "connect");
    return {};
  }
  const { kind, id } = sent;
  const name = `connect-${kind}`;
  const live = await findCredential(kind, id);
  if (!live) {
    await requireWithinLimit(call, "connect", `${name}-refused`);
    return {};
  }
  const { windowSeconds, credentials } = oauthBounds;
  // A token that was used before counts for itself: a process of an agent that sends it for ever does not stop the others.
  const isNew = kind === "RefreshToken" && live.credential.usedAtMs === null;
  const key = (isNew && live.credential.grantId) || hashSecret("connect", id);
  const spent = await counter(name, credentials[kind], windowSeconds).consume(key);
  const { allowed, retryAfterSeconds = windowSeconds } = spent;
  if (!allowed) throw tooManyRequests(retryAfterSeconds);
  return live;
}

type CredentialKind = keyof typeof oauthBounds.credentials;

/** The form fields that carry an issued credential (RFC 6749 §4.1.3, §6, RFC 7009 §2.1, RFC 8628 §3.4). */
const credentialFields: Record<string, CredentialKind> = {
  refresh_token: "RefreshToken",
  token: "RefreshToken",
  code: "AuthorizationCode",
  device_code: "DeviceCode",
};

function findSent(
  { path }: Call,
  form: URLSearchParams,
  uid: string | undefined,
): { kind: CredentialKind; id: string } | undefined {
  if (path === connectEndpoints.resume.path) return uid ? { kind: "Interaction", id: uid } : undefined;
  for (const [name, kind] of Object.entries(credentialFields)) {
    const id = form.get(name);
    if (id) return { kind, id };
  }
  return undefined;
}
