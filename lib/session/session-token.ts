import { type KeyObject, sign, verify } from "node:crypto";

/*
 * The one file on the format of a session token: a JWT with Clerk's claims, signed with RS256 (RFC 7515, RFC 7519).
 */

/** A token that reads as a session token. Nothing is proven until {@link isSignedBy} says so. */
export type ParsedToken = {
  /** The `kid` of the key that is said to have signed it; older ones of ours name none. */
  keyId: string | undefined;
  issuer: string;
  subject: string;
  sessionId: string;
  /** The `azp`: the origin of the page that it was minted for. Programs and native apps have none. */
  origin: string | undefined;
  /** The `aud`: the resources that it is for, where it is bound to any (RFC 8707). */
  audience: readonly string[] | undefined;
  /** Unix seconds. */
  startsAt: number;
  endsAt: number;
  /** What the signature is over, and the signature, both as they were sent. */
  signed: string;
  signature: string;
};

/** A token and the instant it ends at, Unix milliseconds. */
export type MintedToken = { token: string; expiresAtMs: number };

/** What a token is minted of. */
export type TokenTerms = { subject: string; sessionId: string; origin?: string; endsAtMs: number };

/** No token of ours lives longer, so a key that has stopped signing is needed no longer than this. */
export const longestTokenSeconds = 60 * 60; // 1 hour

const skewSeconds = 5;
const mostCharacters = 8 * 1024; // 8 KiB

/** Clerk's category of session tokens; JWT templates and machine tokens have others, older tokens none. */
const sessionCategory = "cl_B7d4PD111AAA";

/**
 * Reads a session token of a user whose sign-in is complete; `undefined` when it is anything else. RS256 alone
 * (RFC 8725 §3.1), no critical extension (RFC 7515 §4.1.11).
 */
export function parseSessionToken(token: string): ParsedToken | undefined {
  if (token.length > mostCharacters) return undefined;
  const [, signed, head = "", body = "", signature = ""] =
    /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/.exec(token) ?? [];
  const header = decode(head);
  const claims = decode(body);
  if (!signed || !header || !claims) return undefined;
  if (header.alg !== "RS256" || header.crit !== undefined) return undefined;
  if (header.cat !== undefined && header.cat !== sessionCategory) return undefined;
  const { iss, sub, sid, azp, aud, exp, nbf = 0, iat = 0, sts } = claims;
  const { kid } = header;
  if (!isText(iss) || !isText(sub) || !/^user_\w+$/.test(sub) || !isText(sid) || sid === "") return undefined;
  if (!isNumber(exp) || !isNumber(nbf) || !isNumber(iat) || sts === "pending") return undefined;
  if ((azp !== undefined && !isText(azp)) || (kid !== undefined && !isText(kid))) return undefined;
  const audience = aud === undefined ? undefined : [aud].flat();
  if (audience && !audience.every(isText)) return undefined;
  return {
    ...{ keyId: kid, issuer: iss, subject: sub, sessionId: sid, origin: azp, audience },
    ...{ startsAt: Math.max(nbf, iat), endsAt: exp, signed, signature },
  };
}

/** Whether a token is in force at `nowMs`, with 5 s of clock skew on either side. */
export function isInForce(
  { startsAt, endsAt }: Pick<ParsedToken, "startsAt" | "endsAt">,
  nowMs: number,
): boolean {
  const nowSeconds = nowMs / 1000;
  return nowSeconds < endsAt + skewSeconds && nowSeconds >= startsAt - skewSeconds;
}

/** Whether the private half of this key signed the token. */
export function isSignedBy({ signed, signature }: ParsedToken, publicKey: KeyObject): boolean {
  return verify("sha256", Buffer.from(signed), publicKey, Buffer.from(signature, "base64url"));
}

/** Mints a token in the name of the key's issuer. Throws when it would outlive {@link longestTokenSeconds}. */
export function mintSessionToken(
  { subject, sessionId, origin, endsAtMs }: TokenTerms,
  key: { kid: string; issuer: string; privateKey: KeyObject },
  nowMs: number,
): MintedToken {
  const iat = Math.floor(nowMs / 1000);
  const exp = Math.floor(endsAtMs / 1000);
  if (exp - iat > longestTokenSeconds) throw new RangeError("a token must end within the hour");
  const claims = { iss: key.issuer, sub: subject, sid: sessionId, azp: origin, iat, nbf: iat, exp };
  const signed = `${encode({ alg: "RS256", kid: key.kid, typ: "JWT" })}.${encode(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), key.privateKey).toString("base64url");
  return { token: `${signed}.${signature}`, expiresAtMs: exp * 1000 };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** The members of a part that is a JSON object. */
function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
