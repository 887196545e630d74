import { type VerifiedToken, verifyToken } from "@/lib/auth/tokens/verifier";
import { settings } from "@/lib/config/settings";
import type { Call, SentHeaders } from "@/lib/http/call";
import { readCookie } from "@/lib/http/cookies";
import { mcpServer } from "@/lib/http/register/mcp";

/** The resources that a token can be bound to: the HTTP API, or the MCP server, which has three addresses. */
export type Resource = "api" | "mcp";

/**
 * Why a request has no session: sign-in is not set up, or it sent no valid token. `renewable`: it is from a browser that
 * sent what renews its session, if that still exists.
 */
export type MissingSession =
  | { is: "unconfigured" }
  | { is: "signed-out"; tokenWasSent: boolean }
  | { is: "renewable"; tokenWasSent: boolean };

/**
 * The verified token of a request: its bearer token if one is sent, otherwise, but for MCP, its `__session` cookie, which
 * browsers send with forged requests too. An invalid bearer token never falls back to the cookie, and a token for another
 * resource is invalid. Throws if the token cannot be checked: see {@link verifyToken}.
 *
 * @param resource - the requested resource; `undefined` for a page
 */
export async function readCredential(
  { headers, nowMs }: Pick<Call, "headers" | "nowMs">,
  resource: Resource | undefined,
): Promise<VerifiedToken | MissingSession> {
  if (settings().signIn.kind === "none") return { is: "unconfigured" };
  const cookie = (name: "__session" | "office-client") =>
    resource === "mcp" ? undefined : readCookie(headers, name);
  const token = bearerToken(headers) ?? cookie("__session");
  const verified = token === undefined ? undefined : await verifyToken(token, nowMs);
  if (verified && isAudience(verified.audience, resource)) return verified;
  const isRenewable = !headers.has("authorization") && cookie("office-client") !== undefined;
  return { is: isRenewable ? "renewable" : "signed-out", tokenWasSent: token !== undefined };
}

/** The same for a page: `call.once` does it once for what renews the session, and for what is shown. */
export const readPageCredential = (call: Call) => readCredential(call, undefined);

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

/** Our URL alone names every resource. Clients that normalize it add a slash (RFC 9728 §3.1). */
const wholeService = ["", "/"];

/** The addresses that name a resource in the `aud` of a token (RFC 8707 §2). */
export function addressesOf(resource: Resource): string[] {
  const paths = { api: ["/api"], mcp: mcpServer.paths }[resource];
  return [...paths, ...wholeService].map((path) => settings().appUrl + path);
}

/** Whether a token with this `aud` is valid for a resource. A token without one is valid everywhere. */
function isAudience(audience: readonly string[] | undefined, resource: Resource | undefined): boolean {
  if (!audience) return true;
  return resource !== undefined && addressesOf(resource).some((address) => audience.includes(address));
}
