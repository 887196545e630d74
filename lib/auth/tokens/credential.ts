import { isAudience, type Resource } from "@/lib/auth/tokens/token-audience";
import { type VerifiedToken, verifyToken } from "@/lib/auth/tokens/verifier";
import { settings } from "@/lib/config/settings";
import type { SentHeaders } from "@/lib/http/call";
import { readCookie } from "@/lib/http/cookies";

/** Why a request has no session: sign-in is not set up, or it sent no valid token. */
export type MissingSession = { is: "unconfigured" } | { is: "signed-out"; tokenWasSent: boolean };

/**
 * The session of a request: that of the bearer token if one is sent, otherwise of the `__session` cookie. An invalid
 * bearer token never falls back to the cookie, and a token for another resource is invalid. Throws if the token cannot
 * be checked: see {@link verifyToken}.
 *
 * @param resource - the requested resource; `undefined` for a page
 */
export async function readSessionCredential(
  headers: SentHeaders,
  resource: Resource | undefined,
  nowMs: number,
): Promise<VerifiedToken | MissingSession> {
  if (settings().signIn.kind === "none") return { is: "unconfigured" };
  const token = bearerToken(headers) ?? readCookie(headers, "__session");
  if (token === undefined) return { is: "signed-out", tokenWasSent: false };
  const verified = await verifyToken(token, nowMs);
  const isValid = verified && isAudience(verified.audience, resource);
  return isValid ? verified : { is: "signed-out", tokenWasSent: true };
}

/**
 * The value of `WWW-Authenticate` on a 401; it names an error only if a token was sent (RFC 6750 §3).
 *
 * @param more - further parameters, such as the address of the resource metadata
 */
export function challenge(tokenWasSent: boolean, more: Record<string, string> = {}): string {
  const parameters = { realm: "corner-office", ...(tokenWasSent && { error: "invalid_token" }), ...more };
  const words = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return `Bearer ${words.join(", ")}`;
}

/**
 * The token after the Bearer scheme, in any letter case; `undefined` for another scheme. A malformed credential is
 * returned as a token that will be refused: Bearer without a space (RFC 6750 §2.1), or in one of two fields.
 */
function bearerToken(headers: SentHeaders): string | undefined {
  const [, before, token] = bearerField.exec(headers.get("authorization") ?? "") ?? [];
  return before === undefined ? token : "";
}

// Lazy, because a long token would otherwise be searched for a comma from its end.
const bearerField = /^(?:(.*), *)??bearer(?![\w!#$%&'*+.^`|~-]) *(.*)$/is;
