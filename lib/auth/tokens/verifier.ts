import { hash } from "node:crypto";
import { keyRing } from "@/lib/auth/keys/key-ring";
import { issuerPrefix } from "@/lib/auth/keys/signing-keys";
import {
  isCurrentlyValid,
  isSignedBy,
  type ParsedToken,
  parseSessionToken,
} from "@/lib/auth/tokens/session-token";
import { settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/per-process";
import { RecentCache } from "@/lib/runtime/recent-cache";

/**
 * The verified claims of a token. Its key is that of our ring which signed it; `undefined` for Clerk's tokens. These have no
 * audience: what all of an instance name is for another service that takes them, as Convex does (clerk/javascript#1507).
 */
export type VerifiedToken = ParsedToken;

const maxRemembered = 10_000;
const rememberedForMs = 10 * 60_000; // 10 minutes: most tokens are a browser's, which end after one
const remembered = perProcess(
  "verified tokens",
  () => new RecentCache<VerifiedToken>(maxRemembered, rememberedForMs),
);

/**
 * Verifies a token at `nowMs`; `undefined` if it is invalid for any reason. `iss` selects the required signer: Clerk,
 * if it is configured, or our own ring. It needs no network. It throws if the token may be valid but the ring cannot be
 * read, because an outage must not look like "signed out".
 *
 * Verified tokens are cached by their hash for ten to twenty minutes. A cached token must still be within its lifetime, and
 * its key must still verify. Whether its session and account still exist is not checked here: the read of the account does
 * that for every request.
 */
export function verifyToken(
  token: string,
  nowMs: number,
): VerifiedToken | undefined | Promise<VerifiedToken | undefined> {
  const tokenHash = hash("sha256", token, "base64url");
  const known = remembered().get(tokenHash);
  if (!known) return verifyAnew(token, tokenHash, nowMs);
  const { keyId } = known;
  const isValid = isCurrentlyValid(known, nowMs) && (keyId === undefined || keyRing().knows(keyId, nowMs));
  return isValid ? known : undefined;
}

async function verifyAnew(
  token: string,
  tokenHash: string,
  nowMs: number,
): Promise<VerifiedToken | undefined> {
  const parsed = parseSessionToken(token);
  if (!parsed || !isCurrentlyValid(parsed, nowMs)) return undefined;
  const issuer = await findIssuer(parsed, nowMs);
  if (!issuer) return undefined;
  // Native apps and programs have no origin; any other origin must be one of ours.
  if (parsed.origin !== undefined && !issuer.authorizedParties.includes(parsed.origin)) return undefined;
  if (!(await isSignedBy(token, issuer.publicKey))) return undefined;
  const { keyId } = issuer;
  const verified = { ...parsed, keyId, audience: keyId === undefined ? undefined : parsed.audience };
  remembered().set(tokenHash, verified, nowMs);
  return verified;
}

/** The key that has to have signed, and the allowed values of `azp`. */
async function findIssuer({ issuer, keyId }: ParsedToken, nowMs: number) {
  const { signIn, appUrl } = settings();
  if (signIn.kind === "clerk" && issuer === signIn.issuer) {
    const { publicKey, authorizedParties } = signIn;
    return { publicKey, keyId: undefined, authorizedParties };
  }
  if (!issuer.startsWith(issuerPrefix) || keyId === undefined) return undefined;
  const key = await keyRing().find(keyId, nowMs);
  if (key?.issuer !== issuer) return undefined;
  return { publicKey: key.publicKey, keyId: key.kid, authorizedParties: [appUrl] };
}
