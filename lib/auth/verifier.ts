import { hash, type KeyObject } from "node:crypto";
import { keyRing } from "@/lib/auth/key-ring";
import { isCurrentlyValid, isSignedBy, type ParsedToken, parseSessionToken } from "@/lib/auth/session-token";
import { issuerPrefix } from "@/lib/auth/signing-keys";
import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";
import { LruCache } from "@/lib/runtime/lru-cache";

/** What a good token proves. */
export type VerifiedToken = Pick<ParsedToken, "subject" | "sessionId" | "origin" | "audience" | "actor"> & {
  /** The key of our ring that signed it; none where Clerk did, which keeps its sessions itself. */
  keyId: string | undefined;
};

type Issuer = {
  publicKey: KeyObject;
  keyId: string | undefined;
  /** The origins that the `azp` of a token may name. */
  authorizedParties: string[];
};

const maxRemembered = 10_000;
const remembered = () =>
  processSingleton(
    "verified tokens",
    () => new LruCache<{ proof: VerifiedToken; startsAt: number; endsAt: number }>(maxRemembered),
  );

/**
 * What a token proves at `nowMs`, or `undefined` when it is no good, whatever is wrong with it. `iss` selects who
 * must have signed it: Clerk, where it signs people in, or our own ring. It needs no network, and throws when a
 * token may be good and the ring cannot be read: an outage must not read as "signed out".
 *
 * A token that was verified is remembered by its hash while it lives. Whether its session stands, and its key, is for
 * the account's read to ask, every time.
 */
export async function verifyToken(token: string, nowMs: number): Promise<VerifiedToken | undefined> {
  const name = hash("sha256", token, "base64url");
  const known = remembered().get(name);
  if (known) {
    const { keyId } = known.proof;
    const stands = isCurrentlyValid(known, nowMs) && (keyId === undefined || keyRing().knows(keyId, nowMs));
    return stands ? known.proof : undefined;
  }
  const parsed = parseSessionToken(token);
  if (!parsed || !isCurrentlyValid(parsed, nowMs)) return undefined;
  const issuer = await findIssuer(parsed, nowMs);
  if (!issuer) return undefined;
  const { subject, sessionId, origin, audience, actor, startsAt, endsAt } = parsed;
  // Native apps and programs have no origin; a foreign one is refused.
  if (origin !== undefined && !issuer.authorizedParties.includes(origin)) return undefined;
  if (!(await isSignedBy(parsed, issuer.publicKey))) return undefined;
  const proof = { subject, sessionId, origin, audience, actor, keyId: issuer.keyId };
  remembered().set(name, { proof, startsAt, endsAt });
  return proof;
}

async function findIssuer({ issuer, keyId }: ParsedToken, nowMs: number): Promise<Issuer | undefined> {
  const { signIn, appUrl } = settings();
  if (signIn.kind === "clerk" && issuer === signIn.issuer) {
    const { publicKey, authorizedParties } = signIn;
    return { publicKey, keyId: undefined, authorizedParties };
  }
  if (!issuer.startsWith(issuerPrefix)) return undefined;
  // A build from before the ring named no key: its issuer is named after its only one.
  const key = await keyRing().find(keyId ?? issuer.slice(issuerPrefix.length), nowMs);
  if (key?.issuer !== issuer) return undefined;
  return { publicKey: key.publicKey, keyId: key.kid, authorizedParties: [appUrl] };
}
