import type { KeyObject } from "node:crypto";
import { compactVerify, decodeJwt, decodeProtectedHeader, errors, type JWTPayload, SignJWT } from "jose";
import * as z from "zod";

/*
 * The format of a session token: a JWT with Clerk's claims, signed with RS256 (RFC 7515, RFC 7519).
 */

/** The claims of a well-formed session token. They are unverified until {@link isSignedBy} returns true. */
export type ParsedToken = NonNullable<ReturnType<typeof parseSessionToken>>;

/** A token and its expiry in Unix milliseconds. */
export type MintedToken = { token: string; expiresAtMs: number };

/** The maximum lifetime of our tokens, and so how long a retired key must still verify. */
export const maxTokenSeconds = 60 * 60; // 1 hour

const skewSeconds = 5;
const maxTokenCharacters = 8 * 1024; // 8 KiB

const text = z.string();
const seconds = z.number();

const headerSchema = z.object({
  alg: z.literal("RS256"),
  kid: text.optional(),
  /** Clerk's category of session tokens. JWT templates and machine tokens have other values, older tokens none. */
  cat: z.literal("cl_B7d4PD111AAA").optional(),
  crit: z.undefined().optional(),
});

const claimsSchema = z.object({
  iss: text,
  sub: text.regex(/^user_\w+$/),
  sid: text.min(1),
  /** The origin of the page that the token was minted for. Programs and native apps have none, or an empty one. */
  azp: text.transform((origin) => origin || undefined).optional(),
  /** The resources that the token is bound to, if any (RFC 8707); to none, if it is malformed. */
  aud: z
    .union([z.array(text), text.transform((one) => [one])])
    .optional()
    .catch([]),
  exp: seconds,
  nbf: seconds.default(0),
  iat: seconds.default(0),
  /** The key to which the token is bound (RFC 9449 §6.1). */
  cnf: z.object({ jkt: text.min(1) }).optional(),
  /** Who acts for the subject (RFC 8693 §4.1), which Clerk calls impersonation. */
  act: z.object({ sub: text.min(1).max(200) }).optional(),
  /** Whole minutes since each factor was verified, at `iat`; -1 if it never was. */
  fva: z
    .tuple([seconds.min(0)])
    .rest(z.unknown())
    .optional()
    .catch(undefined),
  /** A sign-in that is not complete has the status `pending`. */
  sts: z
    .unknown()
    .refine((status) => status !== "pending")
    .optional(),
});

const tokenSchema = z.object({ header: headerSchema, claims: claimsSchema });

/**
 * Parses the session token of a user whose sign-in is complete; `undefined` for anything else. Accepts only RS256
 * (RFC 8725 §3.1) and no critical extension (RFC 7515 §4.1.11).
 */
export function parseSessionToken(token: string) {
  if (token.length > maxTokenCharacters || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const { data } = tokenSchema.safeParse(decode(token));
  if (!data) return undefined;
  const { iss, sub, sid, azp, aud, cnf, act, fva, exp, nbf, iat } = data.claims;
  return {
    keyId: data.header.kid,
    issuer: iss,
    subject: sub,
    sessionId: sid,
    origin: azp,
    audience: aud,
    /** The thumbprint of the key that its holder proves to have; undefined for a bearer token. */
    thumbprint: cnf?.jkt,
    actor: act?.sub,
    /** When Clerk has last seen a first factor, or up to a minute before that: its minutes are whole ones. */
    confirmedAtMs: fva && (iat - (fva[0] + 1) * 60) * 1000,
    /** Unix seconds. */
    startsAt: Math.max(nbf, iat),
    endsAt: exp,
  };
}

/** The issuer that a token names, unverified, whatever else is in it. */
export const readIssuer = (token: string): string | undefined => decode(token)?.claims.iss;

function decode(token: string) {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Whether a token is valid at `nowMs`, with 5 s of clock skew on either side. */
export function isCurrentlyValid(
  { startsAt, endsAt }: Pick<ParsedToken, "startsAt" | "endsAt">,
  nowMs: number,
): boolean {
  const nowSeconds = nowMs / 1000;
  return nowSeconds < endsAt + skewSeconds && nowSeconds >= startsAt - skewSeconds;
}

/** Whether this key's private key signed the token. */
export async function isSignedBy(token: string, publicKey: KeyObject): Promise<boolean> {
  try {
    await compactVerify(token, publicKey, { algorithms: ["RS256"] });
    return true;
  } catch (failure) {
    if (failure instanceof errors.JOSEError) return false;
    throw failure;
  }
}

/**
 * Mints a token of the key's issuer. Throws a `RangeError` if it would live longer than {@link maxTokenSeconds}.
 *
 * @param terms - `extra` are the claims that an app's token has besides (RFC 9068 §2.2)
 */
export async function mintSessionToken(
  terms: { subject: string; sessionId: string; origin?: string; endsAtMs: number; extra?: JWTPayload },
  key: { kid: string; issuer: string; privateKey: KeyObject },
  nowMs: number,
): Promise<MintedToken> {
  const { subject, sessionId, origin, endsAtMs, extra } = terms;
  const iat = Math.floor(nowMs / 1000);
  const exp = Math.floor(endsAtMs / 1000);
  if (exp - iat > maxTokenSeconds) throw new RangeError("a token must end within the hour");
  const claims = { iss: key.issuer, sub: subject, sid: sessionId, azp: origin, iat, nbf: iat, exp, ...extra };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "JWT" })
    .sign(key.privateKey);
  return { token, expiresAtMs: exp * 1000 };
}
