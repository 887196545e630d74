import { createPublicKey, hash, hkdfSync, type KeyObject, verify } from "node:crypto";
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader } from "jose";
import * as z from "zod";
import { judgeAge, recordProof } from "@/lib/auth/tokens/proof-memory";
import { perProcess } from "@/lib/per-process";
import { keyedHash } from "@/lib/runtime/keyed-hash";
import { RecentCache } from "@/lib/runtime/recent-cache";

/*
 * Proofs that a request comes from the holder of a key (DPoP, RFC 9449). A token that is bound to a key is worth nothing
 * without one.
 */

/** The algorithms of proofs, which the metadata announces: what phones' and computers' key stores have. */
export const proofAlgorithms = ["ES256", "Ed25519", "EdDSA"] as const;

/** Why a request with a bound token is refused (RFC 9449 §7.1, §9), and the nonce that the client is to use. */
export type ProofFault = {
  error: "invalid_token" | "invalid_dpop_proof" | "use_dpop_nonce";
  description: string;
  nonce?: string;
};

/** A proof, and the request and the token that it has to be for. */
export type SentProof = {
  /** The header field. */
  jwt: string | null;
  method: string;
  /** The address that the client has called, by our own name. */
  url: URL;
  token: string;
  /** The thumbprint of the key to which the token is bound (RFC 7638). */
  thumbprint: string;
  /** Whose memory of proofs it fills: the subject of the token. Without one, it may be sent again while it is not too old. */
  owner: string | undefined;
};

const maxProofCharacters = 4 * 1024; // 4 KiB
const maxKnownKeys = 10_000;
const signatureBytes = 64; // of every algorithm here

const text = z.string();
const base64url = text.regex(/^[\w-]+$/);
const p256 = z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: base64url, y: base64url });
const ed25519 = z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: base64url });
const common = { typ: text.regex(/^(?:application\/)?dpop\+jwt$/i), crit: z.undefined().optional() };
const headerSchema = z.union([
  z.object({ ...common, alg: z.literal("ES256"), jwk: p256 }),
  z.object({ ...common, alg: z.enum(["Ed25519", "EdDSA"]), jwk: ed25519 }),
]);
const claimsSchema = z.object({
  jti: text.min(1),
  htm: text,
  htu: text,
  iat: z.number(),
  /** Not of a request for a token. */
  ath: text.optional(),
  nonce: text.optional(),
});

/** Keys by the encoded header of their proofs, which is the same in each proof of most clients. */
type KnownKey = { thumbprint: string; alg: string; key: KeyObject };
const knownKeys = perProcess("keys of proofs", () => new RecentCache<KnownKey>(maxKnownKeys));

/**
 * Verifies the proof of a request with a bound token (RFC 9449 §4.3), and remembers it, so that it counts once. Returns what
 * is wrong with it; undefined if nothing is. What a stranger sends is refused before it costs a signature or memory.
 */
export async function findProofFault(sent: SentProof, nowMs: number): Promise<ProofFault | undefined> {
  const { jwt, method, url, token, thumbprint, owner } = sent;
  if (jwt === null)
    return { error: "invalid_token", description: "The token is bound to a key: send a DPoP proof" };
  const parsed = await parse(jwt);
  if (!parsed) return wrong("The DPoP proof is not one JWT of type dpop+jwt with its public key");
  const { header, key, claims } = parsed;
  if (key.thumbprint !== thumbprint)
    return { error: "invalid_token", description: "The token is bound to another key" };
  if (claims.htm !== method) return wrong(`htm is not ${method}`);
  if (!isAddress(claims.htu, url)) return wrong(`htu is not ${url.origin}${url.pathname}`);
  if (claims.ath !== hash("sha256", token, "base64url")) return wrong("ath is not the hash of the token");
  if (!isSigned(jwt, key)) return wrong("The signature of the DPoP proof is not valid");
  knownKeys().set(header, key);
  return recordOnce(claims, thumbprint, owner, nowMs);
}

/** The same for a proof that the authorization server's library has verified: it is remembered here alone. */
export async function findRepeat(
  { jwt, thumbprint, owner }: Pick<SentProof, "thumbprint" | "owner"> & { jwt: string },
  nowMs: number,
): Promise<ProofFault | undefined> {
  return recordOnce(claimsSchema.parse(decodeJwt(jwt)), thumbprint, owner, nowMs);
}

type Claims = z.infer<typeof claimsSchema>;

async function recordOnce(
  claims: Claims,
  thumbprint: string,
  owner: string | undefined,
  nowMs: number,
): Promise<ProofFault | undefined> {
  const at = readTime(claims, nowMs);
  const id = hash("sha256", `${thumbprint} ${claims.jti}`, "base64url").slice(0, 22);
  const record = (at: number) =>
    owner === undefined ? judgeAge(at, nowMs) : recordProof({ owner, id, at }, nowMs);
  const recorded = at === undefined ? "old" : await record(at);
  if (recorded === "new") return undefined;
  if (recorded === "seen") return wrong("The DPoP proof was used before");
  return {
    error: "use_dpop_nonce",
    description: "The DPoP proof is too old, or of a clock that differs: send the nonce",
    nonce: nonceOf(stepAt(nowMs) + 1),
  };
}

const wrong = (description: string): ProofFault => ({ error: "invalid_dpop_proof", description });

async function parse(jwt: string) {
  const [, header] = /^([\w-]+)\.[\w-]+\.[\w-]+$/.exec(jwt.slice(0, maxProofCharacters + 1)) ?? [];
  if (!header || jwt.length > maxProofCharacters) return undefined;
  try {
    const claims = claimsSchema.parse(decodeJwt(jwt));
    const known = knownKeys().get(header);
    if (known) return { header, claims, key: known };
    const sentHeader = decodeProtectedHeader(jwt);
    if ("d" in Object(sentHeader.jwk)) return undefined; // its private key
    const { alg, jwk } = headerSchema.parse(sentHeader);
    const key = createPublicKey({ key: jwk, format: "jwk" });
    return { header, claims, key: { thumbprint: await calculateJwkThumbprint(jwk), alg, key } };
  } catch {
    return undefined;
  }
}

/** On this thread: to hand a signature to another, as WebCrypto does, costs as much as to verify it. */
function isSigned(jwt: string, { key, alg }: KnownKey): boolean {
  const end = jwt.lastIndexOf(".");
  const signed = Buffer.from(jwt.slice(0, end));
  const signature = Buffer.from(jwt.slice(end + 1), "base64url");
  if (signature.length !== signatureBytes) return false;
  return alg === "ES256"
    ? verify("sha256", signed, key, encodeSignature(signature))
    : verify(null, signed, key, signature);
}

/** A signature's two numbers in DER (RFC 3279 §2.2.3): OpenSSL takes a third longer for a signature in another form. */
function encodeSignature(signature: Buffer): Buffer {
  const hex = signature.toString("hex");
  const numbers = [hex.slice(0, 64), hex.slice(64)].map((padded) => {
    const number = padded.replace(/^(?:00)+(?=..)/, "");
    return derOf("02", number < "8" ? number : `00${number}`);
  });
  return Buffer.from(derOf("30", numbers.join("")), "hex");
}

const derOf = (tag: string, hex: string) => `${tag}${(hex.length / 2).toString(16).padStart(2, "0")}${hex}`;

/** Whether this is the address, in any spelling (RFC 3986 §6.2) and without what follows its path; also with a slash more. */
function isAddress(htu: string, { origin, pathname }: URL): boolean {
  const sent = URL.parse(htu);
  const withoutSlash = (path: string) => path.replace(/\/$/, "");
  return sent?.origin === origin && withoutSlash(sent.pathname) === withoutSlash(pathname);
}

/** When a proof was made, in Unix seconds: by our nonce if it has one, else by the client's clock. */
function readTime({ iat, nonce }: Claims, nowMs: number): number | undefined {
  if (nonce === undefined) return iat;
  const now = stepAt(nowMs);
  const step = [now - 2, now - 1, now, now + 1, now + 2].find((one) => nonceOf(one) === nonce);
  return step && step * nonceStepSeconds;
}

/*
 * The nonces are those of the authorization server's library, derived as it does: clients keep one for each origin, and we
 * are both. A client gets one only when its proof was refused for its time, so most never see one.
 */

const nonceStepSeconds = 60;
const stepAt = (nowMs: number) => Math.floor(nowMs / 1000 / nonceStepSeconds);

/** What nonces are derived from: 32 bytes. */
export const nonceSecret = () => Buffer.from(keyedHash("proof-nonce:v1", ""), "base64url");

function nonceOf(step: number): string {
  const salt = Buffer.alloc(8);
  salt.writeBigInt64BE(BigInt(step));
  return Buffer.from(hkdfSync("sha256", nonceSecret(), salt, "DPoP", 32)).toString("base64url");
}
