import { decodeJwt, errors, importJWK, type JWTPayload, jwtVerify } from "jose";
import { type Backend, listBackends } from "@/lib/backend/backends";
import { Refusal } from "@/lib/backend/refusals";
import type { Db } from "@/lib/db/store";
import { RecentCache } from "@/lib/runtime/recent-cache";

/** How long an assertion may be valid, and how far the clock of a backend may be off, in seconds. */
export const assertionSeconds = { longest: 5 * 60, leeway: 30 };

/** How long the backends are known without a read: so long a removed one is still accepted, and a new one refused. */
const knownForMs = { ifValid: 1000, ifRefused: 100 };
const backends = new WeakMap<Db, { readAtMs: number; list: Promise<Backend[]> }>();
/** What each list has verified: a client may send an assertion as long as it is valid. */
const verified = new WeakMap<Backend[], RecentCache<Backend>>();
const maxVerified = 1000;

const notJwt = "The assertion is no JWT: three parts with dots between them, in base64url without '='.";

/** Of Ed25519, and of P-256 as JWTs have it (RFC 7518 §3.4). Many libraries and openssl make DER of the latter. */
const signatureBytes = 64;

/** The backends as they were at most so long ago. A failure is not kept. */
function readBackends(db: Db, maxAgeMs: number, nowMs: number): Promise<Backend[]> {
  const known = backends.get(db);
  if (known && Math.abs(nowMs - known.readAtMs) < maxAgeMs) return known.list;
  const list = listBackends(db);
  backends.set(db, { readAtMs: nowMs, list });
  list.catch(() => backends.delete(db));
  return list;
}

/**
 * Finds the backend that signed a request: a JWT (RFC 7519) whose `iss` is its id and whose `aud` is our address, with an `exp`
 * at most five minutes ahead. Throws a {@link Refusal} that says what is wrong with it.
 *
 * @param authorization - the header field
 * @param audience - `BACKEND_URL`
 */
export async function verifyAssertion(
  db: Db,
  authorization: string | null,
  audience: string,
  nowMs: number,
): Promise<Backend> {
  const [, token] = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization ?? "") ?? [];
  if (!token) throw refuse(authorization === null ? "There is no assertion." : notJwt);
  const known = await readBackends(db, knownForMs.ifValid, nowMs);
  const verify = (list: Backend[]) => findSigner(list, token, audience, nowMs);
  return verify(known).catch(async (refusal) => {
    const newer = await readBackends(db, knownForMs.ifRefused, nowMs);
    if (newer === known) throw refusal;
    return verify(newer);
  });
}

async function findSigner(list: Backend[], token: string, audience: string, nowMs: number): Promise<Backend> {
  const seen = verified.get(list) ?? new RecentCache<Backend>(maxVerified);
  verified.set(list, seen);
  const signer = seen.get(token) ?? (await verifySigner(list, token, audience, nowMs));
  seen.set(token, signer);
  return signer;
}

async function verifySigner(
  list: Backend[],
  token: string,
  audience: string,
  nowMs: number,
): Promise<Backend> {
  const claims = readClaims(token);
  const backend = list.find(({ id }) => id === claims.iss);
  if (!backend)
    throw refuse("The 'iss' of the assertion is no backend: it must be an id that 'backend list' has.");
  // A backend without keys does not exist, so this ends with what the last one said.
  const { length } = Buffer.from(token.split(".")[2] ?? "", "base64url");
  let fault: Refusal = refuse(
    length === signatureBytes
      ? "No key of this backend signed the assertion."
      : `The signature of the assertion must have ${signatureBytes} bytes, for ES256 those of r and s, not DER.`,
  );
  for (const { jwk } of backend.keys) {
    try {
      const algorithms = jwk.kty === "OKP" ? ["EdDSA", "Ed25519"] : ["ES256"];
      const key = await importJWK(jwk, algorithms[0]);
      await jwtVerify(token, key, {
        algorithms,
        audience: [audience, `${audience}/`],
        clockTolerance: assertionSeconds.leeway,
        currentDate: new Date(nowMs),
        requiredClaims: ["exp", "aud"],
      });
      requireShort(claims, nowMs);
      return backend;
    } catch (failure) {
      if (failure instanceof Refusal) throw failure;
      if (failure instanceof errors.JWTExpired || failure instanceof errors.JWTClaimValidationFailed)
        throw refuseClaim(failure, audience, nowMs);
      if (failure instanceof errors.JOSEAlgNotAllowed)
        fault = refuse(
          `The 'alg' of the assertion must be ${jwk.kty === "OKP" ? "EdDSA" : "ES256"}, as this backend's key.`,
        );
    }
  }
  throw fault;
}

function readClaims(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw refuse(notJwt);
  }
}

function requireShort({ exp = 0 }: JWTPayload, nowMs: number): void {
  const { longest, leeway } = assertionSeconds;
  if (exp <= nowMs / 1000 + longest + leeway) return;
  throw refuse(`The 'exp' of the assertion is more than ${longest} seconds ahead.${ourClock(nowMs)}`);
}

type ClaimFailure = Pick<errors.JWTExpired, "claim" | "reason" | "payload">;

function refuseClaim({ claim, reason, payload }: ClaimFailure, audience: string, nowMs: number): Refusal {
  if (claim === "aud") return refuse(`The 'aud' of the assertion must be ${audience}.`);
  const isMissing = payload[claim] === undefined;
  if (isMissing) return refuse(`The assertion has no '${claim}'.`);
  if (reason === "invalid") return refuse(`The '${claim}' of the assertion must be a number, of seconds.`);
  return refuse(`The assertion has expired or is not valid yet, by its '${claim}'.${ourClock(nowMs)}`);
}

const ourClock = (nowMs: number) => ` The clock here says ${Math.floor(nowMs / 1000)}.`;

function refuse(message: string): Refusal {
  const headers = { "www-authenticate": `Bearer realm="corner-office", error="invalid_token"` };
  return new Refusal("invalid_assertion", {}, { message, headers });
}
