import { isAudience, type Resource } from "@/lib/auth/resource";
import { type VerifiedToken, verifyToken } from "@/lib/auth/verifier";
import { settings } from "@/lib/config/settings";
import { readCookie } from "@/lib/http/cookies";

/** A request without a session. */
export type MissingSession = {
  because: "sign-in is not set up" | "no token was sent" | "the token is not valid";
};

/**
 * The session of a request: the bearer token's when one is sent, else the `__session` cookie's. A bad
 * bearer token never falls back to the cookie, and one that is bound to another resource is a bad one. Throws when
 * nobody can tell: see {@link verifyToken}.
 *
 * @param resource - what is asked; none where it is a page of ours
 */
export async function readSessionCredential(
  headers: Headers,
  resource: Resource | undefined,
  nowMs: number,
): Promise<VerifiedToken | MissingSession> {
  if (settings().signIn.kind === "none") return { because: "sign-in is not set up" };
  const token = bearerToken(headers) ?? readCookie(headers, "__session");
  if (token === undefined) return { because: "no token was sent" };
  const proof = await verifyToken(token, nowMs);
  return proof && isAudience(proof.audience, resource) ? proof : { because: "the token is not valid" };
}

/**
 * The value of `WWW-Authenticate` on a 401; it names an error only where a token was sent (RFC 6750 §3).
 *
 * @param more - parameters beside those, such as where a client finds who lets it in
 */
export function challenge(tokenWasSent: boolean, more: Record<string, string> = {}): string {
  const parameters = { realm: "corner-office", ...(tokenWasSent && { error: "invalid_token" }), ...more };
  const words = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return `Bearer ${words.join(", ")}`;
}

/**
 * The token after the Bearer scheme, in any letter case; another scheme is no credential of ours. What is no token but
 * meant as one is answered as it stands, to be refused: Bearer without a space (RFC 6750 §2.1), or in one of two fields.
 */
function bearerToken(headers: Headers): string | undefined {
  const [, before, token] = bearerField.exec(headers.get("authorization") ?? "") ?? [];
  return before === undefined ? token : "";
}

const bearerField = /^(?:(.*), *)?bearer(?![\w!#$%&'*+.^`|~-]) *(.*)$/is;
