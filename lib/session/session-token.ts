import { verify } from "node:crypto";
import { z } from "zod";
import type { Issuer } from "@/lib/session/issuer";

/** Who a session token says is signed in. */
export type Session = { subject: string; sessionId: string };

const skewSeconds = 5;
const mostCharacters = 8 * 1024; // 8 KiB

/** Clerk's category of session tokens; JWT templates and machine tokens have others, older tokens none. */
const sessionCategory = "cl_B7d4PD111AAA";

const headerSchema = z.object({
  alg: z.literal("RS256"),
  cat: z.literal(sessionCategory).optional(),
  crit: z.never().optional(),
});

const claimsSchema = z.object({
  iss: z.string(),
  sub: z.string().regex(/^user_\w+$/),
  sid: z.string().min(1),
  exp: z.number(),
  nbf: z.number().optional(),
  iat: z.number().optional(),
  azp: z.string().optional(),
  sts: z.string().optional(),
});

/**
 * The session of a token that this issuer signed and that is in force at `nowMs`; otherwise `undefined`,
 * whatever is wrong with it. It needs no network, so an outage can never read as "signed out".
 *
 * RS256 alone (RFC 8725 §3.1), 5 s of clock skew, only session tokens of a user whose sign-in is complete.
 * An absent `azp` is accepted, because native apps have no origin; a foreign one is not.
 */
export function verifySessionToken(token: string, issuer: Issuer, nowMs: number): Session | undefined {
  if (token.length > mostCharacters) return undefined;
  const [, signed, header = "", payload = "", signature = ""] =
    /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/.exec(token) ?? [];
  if (!signed || !headerSchema.safeParse(decode(header)).success) return undefined;
  const claims = claimsSchema.safeParse(decode(payload)).data;
  if (!claims || !isInForce(claims, nowMs / 1000)) return undefined;
  if (claims.iss !== issuer.name || claims.sts === "pending") return undefined;
  if (claims.azp !== undefined && !issuer.authorizedParties.includes(claims.azp)) return undefined;
  const isSigned = verify(
    "sha256",
    Buffer.from(signed),
    issuer.publicKey,
    Buffer.from(signature, "base64url"),
  );
  return isSigned ? { subject: claims.sub, sessionId: claims.sid } : undefined;
}

function isInForce({ exp, nbf = 0, iat = 0 }: z.infer<typeof claimsSchema>, nowSeconds: number): boolean {
  return nowSeconds < exp + skewSeconds && nowSeconds >= Math.max(nbf, iat) - skewSeconds;
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString());
  } catch {
    return undefined;
  }
}
