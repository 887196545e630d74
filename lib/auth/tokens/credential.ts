import { findProofFault, type ProofFault, proofAlgorithms } from "@/lib/auth/tokens/proof";
import { type VerifiedToken, verifyToken } from "@/lib/auth/tokens/verifier";
import { settings } from "@/lib/config/settings";
import type { Call, SentHeaders } from "@/lib/http/call";
import { readCookie, readCookies } from "@/lib/http/cookies";
import { mcpServer } from "@/lib/http/register/mcp";
import { perProcess } from "@/lib/per-process";

/** The resources that a token can be bound to: the HTTP API, or the MCP server, which has three addresses. */
export type Resource = "api" | "mcp";

/** What the challenge of a 401 says: whether a token was sent, and what was wrong with one that its holder has to prove. */
export type Refused = { tokenWasSent: boolean; fault?: ProofFault };

/**
 * Why a request has no session: sign-in is not set up, or it sent no valid token. `renewable`: it is from a browser that
 * sent what renews its session, if that still exists.
 */
export type MissingSession =
  | { is: "unconfigured" }
  | ({ is: "signed-out" } & Refused)
  | { is: "renewable"; tokenWasSent: boolean };

/**
 * The verified token of a request: that of its `Authorization` if one is sent, with the proof of its holder if it is bound
 * to a key, otherwise, but for MCP, its session cookie, which browsers send with forged requests too. An invalid bearer
 * token never falls back to the cookie, and a token for another resource is invalid. Throws if the token cannot be checked:
 * see {@link verifyToken}.
 *
 * @param resource - the requested resource; `undefined` for a page
 */
export async function readCredential(
  call: Pick<Call, "headers" | "nowMs" | "method" | "url" | "site">,
  resource: Resource | undefined,
): Promise<VerifiedToken | MissingSession> {
  const { headers } = call;
  if (settings().signIn.kind === "none") return { is: "unconfigured" };
  const sent = readAuthorization(headers);
  const takesCookies = !sent && resource !== "mcp";
  const tokens = sent ? [sent.token] : takesCookies ? readSessionCookies(headers) : [];
  const valid = await findValid(tokens, resource, call.nowMs);
  if (valid) {
    const { token, verified } = valid;
    const isProved = sent?.scheme === "dpop";
    if (!isProved && verified.thumbprint === undefined) return verified;
    const fault = await findFault(call, headers.get("dpop"), token, verified, isProved);
    return fault ? { is: "signed-out", tokenWasSent: true, fault } : verified;
  }
  if (sent?.scheme === "dpop") return { is: "signed-out", tokenWasSent: true, fault: notValid };
  const isRenewable = takesCookies && readCookie(headers, "office-client") !== undefined;
  return { is: isRenewable ? "renewable" : "signed-out", tokenWasSent: tokens.length > 0 };
}

/** How many cookies of the session's name are tried. */
export const maxSessionCookies = 4;

/** The session cookies, of which others on our host or domain may have set some: other frameworks use the name too. */
function readSessionCookies(headers: SentHeaders): string[] {
  const { signIn } = settings();
  const names = signIn.kind === "clerk" ? signIn.sessionCookies : ["__session"];
  return [...new Set(names.flatMap((name) => readCookies(headers, name)))].slice(0, maxSessionCookies);
}

/** The token that is valid for the resource. Of two accounts none is: a sibling host may have set its own session's here. */
async function findValid(tokens: readonly string[], resource: Resource | undefined, nowMs: number) {
  const valid: { token: string; verified: VerifiedToken }[] = [];
  for (const token of tokens) {
    const verified = await verifyToken(token, nowMs);
    if (verified && isAudience(verified.audience, resource)) valid.push({ token, verified });
  }
  const [first] = valid;
  const isOne = valid.every(({ verified }) => verified.subject === first?.verified.subject);
  return isOne ? first : undefined;
}

/**
 * What to do about a token that is valid, and whose holder has not proved that it is theirs: to sign in again would not help.
 * `undefined` for any other.
 */
export function hintOfProof({ fault }: Refused): string | undefined {
  return fault && fault !== notValid ? `${fault.description}.` : undefined;
}

const notValid = { error: "invalid_token", description: "The token is not valid" } as const;

/** What is wrong with a valid token that is bound to a key, or is sent as if it were (RFC 9449 §7.1). */
async function findFault(
  { method, url, site, nowMs }: Pick<Call, "nowMs" | "method" | "url" | "site">,
  jwt: string | null,
  token: string,
  { thumbprint, subject }: VerifiedToken,
  isProved: boolean,
): Promise<ProofFault | undefined> {
  const refuse = (description: string) => ({ error: "invalid_token", description }) as const;
  if (thumbprint === undefined) return refuse("The token is bound to no key: send it as Bearer");
  if (!isProved) return refuse("The token is bound to a key: send it as DPoP, with a proof");
  // A backend may ask more than once about one request to it.
  const owner = site.loggedAs === "backend" ? undefined : subject;
  return findProofFault({ jwt, method, url, token, thumbprint, owner }, nowMs);
}

/** The same for a page: `call.once` does it once for what renews the session, and for what is shown. */
export const readPageCredential = (call: Call) => readCredential(call, undefined);

/**
 * The headers of a 401: `WWW-Authenticate`, which names an error only if a token was sent (RFC 6750 §3, RFC 9449 §7.1), and the
 * nonce for the next proof (RFC 9449 §9).
 *
 * @param more - further parameters, such as the address of the resource metadata
 */
export function challenge(
  { tokenWasSent, fault }: Refused,
  more: Record<string, string> = {},
): { "www-authenticate": string; "dpop-nonce"?: string } {
  const error = fault?.error ?? (tokenWasSent && "invalid_token");
  const parameters = {
    realm: "corner-office",
    ...(error && { error }),
    ...(fault && { error_description: fault.description, algs: proofAlgorithms.join(" ") }),
    ...more,
  };
  const words = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return {
    "www-authenticate": `${fault ? "DPoP" : "Bearer"} ${words.join(", ")}`,
    ...(fault?.nonce && { "dpop-nonce": fault.nonce }),
  };
}

/**
 * Whether a request brings a token, as programs do. Browsers send other schemes, which are for a proxy in front of us that
 * passes them on (RFC 9110 §11.6.2).
 */
export const bringsToken = (headers: SentHeaders) => readAuthorization(headers) !== undefined;

/**
 * The scheme, in lower case, and the token after it; `undefined` for another scheme than the two. A malformed credential is
 * returned as a token that will be refused: a scheme without a space (RFC 6750 §2.1), or in one of two fields.
 */
function readAuthorization(headers: SentHeaders): { scheme: string; token: string } | undefined {
  const [, before, scheme, token] = authorizationField.exec(headers.get("authorization") ?? "") ?? [];
  if (scheme === undefined) return undefined;
  return { scheme: scheme.toLowerCase(), token: (before === undefined && token) || "" };
}

// Lazy, because a long token would otherwise be searched for a comma from its end.
const authorizationField = /^(?:(.*), *)??(bearer|dpop)(?![\w!#$%&'*+.^`|~-]) *(.*)$/is;

/** Our URL alone names every resource. Clients that normalize it add a slash (RFC 9728 §3.1). */
const wholeService = ["", "/"];

/** The addresses that name each resource in the `aud` of a token (RFC 8707 §2). */
export const addresses = perProcess("addresses of resources", (): Record<Resource, string[]> => {
  const named = (paths: readonly string[]) =>
    [...paths, ...wholeService].map((path) => settings().appUrl + path);
  return { api: named(["/api"]), mcp: named(mcpServer.paths) };
});

/** Whether a token with this `aud` is valid for a resource. A token without one is valid everywhere. */
function isAudience(audience: readonly string[] | undefined, resource: Resource | undefined): boolean {
  if (!audience) return true;
  return resource !== undefined && addresses()[resource].some((address) => audience.includes(address));
}
