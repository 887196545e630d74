import { isAudience, type Resource } from "@/lib/auth/token-audience";
import { type VerifiedToken, verifyToken } from "@/lib/auth/verifier";
import { settings } from "@/lib/config/settings";
import { readCookie } from "@/lib/http/cookies";

/** A request without a session. */
export type MissingSession = {
  because: "sign-in is not set up" | "no token was sent" | "the token is not valid";
};

/**
 * The session of a request: that of the bearer token if one is sent, otherwise of the `__session` cookie. An invalid
 * bearer token never falls back to the cookie, and a token for another resource is invalid. Throws if the token cannot
 * be checked: see {@link verifyToken}.
 *
 * @param resource - the requested resource; `undefined` for a page
 */
export async function readSessionCredential(
  headers: Headers,
  resource: Resource | undefined,
  nowMs: number,
): Promise<VerifiedToken | MissingSession> {
  if (settings().signIn.kind === "none") return { because: "sign-in is not set up" };
  const token = bearerToken(headers) ?? readCookie(headers, "__session");
  if (token === undefined) return { because: "no token was sent" };
  const verified = await verifyToken(token, nowMs);
  return verified && isAudience(verified.audience, resource)
    ? verified
    : { because: "the token is not valid" };
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
function bearerToken(headers: Headers): string | undefined {
  const [, before, token] = bearerField.exec(headers.get("authorization") ?? "") ?? [];
  return before === undefined ? token : "";
}

// Lazy, because a long token would otherwise be searched for a comma from its end.
const bearerField = /^(?:(.*), *)??bearer(?![\w!#$%&'*+.^`|~-]) *(.*)$/is;
