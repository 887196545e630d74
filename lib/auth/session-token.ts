import type { KeyObject } from "node:crypto";
import { compactVerify, decodeJwt, decodeProtectedHeader, errors, SignJWT } from "jose";
import * as z from "zod";

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
  /** The `sub` of its `act`: who is signed in for the subject, which Clerk calls impersonation (RFC 8693 §4.1). */
  actor: string | undefined;
  /** Unix seconds. */
  startsAt: number;
  endsAt: number;
  /** As it was sent. */
  token: string;
};

/** A token and the instant it ends at, Unix milliseconds. */
export type MintedToken = { token: string; expiresAtMs: number };

/** What a token is minted of. */
export type TokenTerms = { subject: string; sessionId: string; origin?: string; endsAtMs: number };

/** No token of ours lives longer, so a key that has stopped signing is needed no longer than this. */
export const longestTokenSeconds = 60 * 60; // 1 hour

const skewSeconds = 5;
const maxCharacters = 8 * 1024; // 8 KiB

const text = z.string();
const seconds = z.number();

const headerSchema = z.object({
  alg: z.literal("RS256"),
  kid: text.optional(),
  /** Clerk's category of session tokens; JWT templates and machine tokens have others, older tokens none. */
  cat: z.literal("cl_B7d4PD111AAA").optional(),
  crit: z.undefined().optional(),
});

const claimsSchema = z.object({
  iss: text,
  sub: text.regex(/^user_\w+$/),
  sid: text.min(1),
  azp: text.optional(),
  aud: z.union([z.array(text), text.transform((one) => [one])]).optional(),
  exp: seconds,
  nbf: seconds.default(0),
  iat: seconds.default(0),
  act: z.object({ sub: text.min(1).max(200) }).optional(),
  /** A sign-in that lacks a step says that it is pending. */
  sts: z
    .unknown()
    .refine((status) => status !== "pending")
    .optional(),
});

/**
 * Reads a session token of a user whose sign-in is complete; `undefined` when it is anything else. RS256 alone
 * (RFC 8725 §3.1), no critical extension (RFC 7515 §4.1.11).
 */
export function parseSessionToken(token: string): ParsedToken | undefined {
  if (token.length > maxCharacters || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const header = headerSchema.safeParse(read(() => decodeProtectedHeader(token)));
  const claims = claimsSchema.safeParse(read(() => decodeJwt(token)));
  if (!header.success || !claims.success) return undefined;
  const { iss, sub, sid, azp, aud, act, exp, nbf, iat } = claims.data;
  return {
    keyId: header.data.kid,
    issuer: iss,
    subject: sub,
    sessionId: sid,
    origin: azp,
    audience: aud,
    actor: act?.sub,
    startsAt: Math.max(nbf, iat),
    endsAt: exp,
    token,
  };
}

/** What the library reads; `undefined` where it finds nothing that it could. */
function read<T>(part: () => T): T | undefined {
  try {
    return part();
  } catch {
    return undefined;
  }
}

/** Whether a token is in force at `nowMs`, with 5 s of clock skew on either side. */
export function isCurrentlyValid(
  { startsAt, endsAt }: Pick<ParsedToken, "startsAt" | "endsAt">,
  nowMs: number,
): boolean {
  const nowSeconds = nowMs / 1000;
  return nowSeconds < endsAt + skewSeconds && nowSeconds >= startsAt - skewSeconds;
}

/** Whether the private half of this key signed the token. */
export async function isSignedBy({ token }: ParsedToken, publicKey: KeyObject): Promise<boolean> {
  try {
    await compactVerify(token, publicKey, { algorithms: ["RS256"] });
    return true;
  } catch (failure) {
    if (failure instanceof errors.JOSEError) return false;
    throw failure;
  }
}

/** Mints a token in the name of the key's issuer. Throws when it would outlive {@link longestTokenSeconds}. */
export async function mintSessionToken(
  { subject, sessionId, origin, endsAtMs }: TokenTerms,
  key: { kid: string; issuer: string; privateKey: KeyObject },
  nowMs: number,
): Promise<MintedToken> {
  const iat = Math.floor(nowMs / 1000);
  const exp = Math.floor(endsAtMs / 1000);
  if (exp - iat > longestTokenSeconds) throw new RangeError("a token must end within the hour");
  const claims = { iss: key.issuer, sub: subject, sid: sessionId, azp: origin, iat, nbf: iat, exp };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "JWT" })
    .sign(key.privateKey);
  return { token, expiresAtMs: exp * 1000 };
}
