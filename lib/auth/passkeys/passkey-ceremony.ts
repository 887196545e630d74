import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import * as z from "zod";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";
import { parseJson } from "@/lib/http/json";
import { loadLibrary } from "@/lib/runtime/load-library";
import { log } from "@/lib/runtime/log";

/*
 * The two ceremonies of WebAuthn Level 3, without accounts or storage: the caller brings the relying party, decides
 * which challenges it expects, and stores what comes out. The library takes most of a second to load, so it is loaded
 * when a signature has to be verified.
 */

/** The relying party (§4). Only pages of exactly its origin can use its credentials. */
export type RelyingParty = { id: string; name: string; origin: string };

/** How long a browser waits for its user, and how long a challenge lives. */
export const ceremonyMs = 5 * 60 * 1000; // 5 minutes

/** The accepted signature algorithms, in order of preference: EdDSA, ES256, ES384, ES512, RS256 (RFC 9053, RFC 8812). */
const algorithms = [-8, -7, -35, -36, -257];

const maxIdCharacters = 1364; // of 1023 bytes (§5.8.3)

/** A credential to store (§4, credential record), by the columns of its row. */
export type Credential = Pick<Tables["passkeys"], "credential_id" | "rp_id" | "public_key" | "counter">;

/** A response that proves nothing. The client gets no reason, which only the log has, but for what its person can mend. */
export class CeremonyError extends ApiError {
  /** @param code - `not_found` for a credential that is not stored here: the browser offers it no more */
  constructor(
    readonly because: string,
    code: "invalid_request" | "not_found" = "invalid_request",
    message = "This passkey was not accepted.",
  ) {
    super(code, { message, hint: "Try again, or sign in with a code." });
    log().info({ because }, "a passkey was refused");
  }
}

/**
 * The options to create a discoverable credential (§5.4).
 *
 * @param user - its id identifies the account to authenticators and says nothing about the person; its name is shown
 * @param excludedIds - the account's credentials: an authenticator that holds one of them creates no second one
 */
export function creationOptions(
  { id, name }: RelyingParty,
  challenge: string,
  user: { id: string; name: string },
  excludedIds: readonly string[],
): PublicKeyCredentialCreationOptionsJSON {
  return {
    challenge,
    rp: { id, name },
    user: { id: toUserHandle(user.id), name: user.name, displayName: user.name },
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
    excludeCredentials: excludedIds.map((id) => ({ type: "public-key", id })),
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    attestation: "none",
    timeout: ceremonyMs,
  };
}

/** The options to prove the possession of any discoverable credential (§5.5). */
export function requestOptions(
  { id }: RelyingParty,
  challenge: string,
): PublicKeyCredentialRequestOptionsJSON {
  return { challenge, rpId: id, userVerification: "required", timeout: ceremonyMs };
}

/** The user handle of an account (§5.4.3), in base64url. */
export function toUserHandle(userId: string): string {
  return Buffer.from(userId).toString("base64url");
}

const base64url = (maxCharacters: number) =>
  z
    .string()
    .max(maxCharacters)
    .regex(/^[\w-]+$/);

const credential = <Response extends z.ZodRawShape>(response: Response) =>
  z
    .object({
      id: base64url(maxIdCharacters),
      rawId: base64url(maxIdCharacters),
      type: z.literal("public-key"),
      response: z.object({ clientDataJSON: base64url(8192), ...response }),
    })
    .transform((sent) => ({ ...sent, clientExtensionResults: {} }));

const registrationResponse = credential({ attestationObject: base64url(16_384) });

const authenticationResponse = credential({
  authenticatorData: base64url(8192),
  signature: base64url(4096),
  userHandle: base64url(88).nullish(), // 64 bytes (§5.4.3)
});

/** What we check ourselves of the data that a browser signs (§5.8.1); the library checks the rest. */
const clientData = z.object({
  challenge: z.string(),
  crossOrigin: z.boolean().default(false),
  topOrigin: z.unknown().optional(),
});

type IsExpected = (challenge: string) => boolean;

/** Verifies a response to {@link creationOptions} (§7.1). Throws a {@link CeremonyError}. */
export async function verifyRegistration(
  { id, origin }: RelyingParty,
  body: Buffer,
  isExpected: IsExpected,
): Promise<{ challenge: string; credential: Credential }> {
  const sent = parse(registrationResponse, body);
  const challenge = readChallenge(sent.response.clientDataJSON, isExpected);
  const { verifyRegistrationResponse } = await loadLibrary(() => import("@simplewebauthn/server"));
  const { verified, registrationInfo } = await refuseFailure(async () =>
    verifyRegistrationResponse({
      response: await withoutCertificates(sent),
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!verified) throw new CeremonyError("the self attestation is not by the credential");
  requireVerifiedUser(registrationInfo.userVerified, setPin);
  const { credential } = registrationInfo;
  if (credential.id !== sent.id) throw new CeremonyError("the response names another credential");
  const public_key = Buffer.from(credential.publicKey).toString("base64url");
  const { counter } = credential;
  return { challenge, credential: { credential_id: credential.id, rp_id: id, public_key, counter } };
}

/**
 * Verifies a response to {@link requestOptions} (§7.2) with the passkey of its credential. Returns the passkey, the user
 * handle in base64url, which an authenticator may leave out, the signature counter, which the caller compares with the
 * stored one, and whether the passkey may be on several devices (backup eligible, §6.1.3). Throws a {@link CeremonyError}.
 */
export async function verifyAuthentication<Passkey extends { public_key: string }>(
  { id, origin }: RelyingParty,
  body: Buffer,
  isExpected: IsExpected,
  findPasskey: (credentialId: string) => Promise<Passkey>,
) {
  const { response, ...sent } = parse(authenticationResponse, body);
  const challenge = readChallenge(response.clientDataJSON, isExpected);
  const { userHandle, ...signed } = response;
  const passkey = await findPasskey(sent.id);
  const publicKey = new Uint8Array(Buffer.from(passkey.public_key, "base64url"));
  const { verifyAuthenticationResponse } = await loadLibrary(() => import("@simplewebauthn/server"));
  const { verified, authenticationInfo } = await refuseFailure(() =>
    verifyAuthenticationResponse({
      response: { ...sent, response: signed },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: false,
      credential: { id: sent.id, publicKey, counter: 0 },
    }),
  );
  if (!verified) throw new CeremonyError("the signature is not by the credential");
  await requireWholeSignature(signed.signature, publicKey);
  requireVerifiedUser(authenticationInfo.userVerified);
  return {
    passkey,
    challenge,
    userHandle: userHandle ?? undefined,
    counter: authenticationInfo.newCounter,
    isSynced: authenticationInfo.credentialDeviceType === "multiDevice",
  };
}

/** Refuses bytes after an ECDSA signature (§6.5.5), which the library ignores: a response has one spelling. */
async function requireWholeSignature(signature: string, publicKey: Uint8Array<ArrayBuffer>): Promise<void> {
  const { cose, decodeCredentialPublicKey } = await loadLibrary(
    () => import("@simplewebauthn/server/helpers"),
  );
  const key = decodeCredentialPublicKey(publicKey);
  if (!cose.isCOSEPublicKeyEC2(key)) return;
  const der = Buffer.from(signature, "base64url");
  const headBytes = der[1] === 0x81 ? 3 : 2; // X.690 §8.1.3
  if (der.length !== headBytes + (der[headBytes - 1] ?? 0))
    throw new CeremonyError("bytes follow the signature");
}

/** Checked after the signature, so that it is the authenticator that says so. */
function requireVerifiedUser(isVerified: boolean, message?: string): void {
  if (!isVerified) throw new CeremonyError("the user was not verified", undefined, message);
}

/** Firefox lets a security key without a PIN answer, and sets none (mozilla/authenticator-rs#373). */
const setPin =
  "This passkey was not added: it did not ask for a PIN, a fingerprint or a face. A security key needs a PIN first: set one in your system’s settings, or add the key in Chrome, which asks for one.";

function parse<Shape>(schema: z.ZodType<Shape>, body: Buffer): Shape {
  const parsed = schema.safeParse(parseJson(body));
  if (!parsed.success) throw new CeremonyError("the response is malformed");
  return parsed.data;
}

/** The challenge of a response, if it is expected and no other page embedded the one that it comes from. */
function readChallenge(clientDataJSON: string, isExpected: IsExpected): string {
  const data = parse(clientData, Buffer.from(clientDataJSON, "base64url"));
  if (data.crossOrigin || data.topOrigin !== undefined) throw new CeremonyError("the page was embedded");
  if (!isExpected(data.challenge)) throw new CeremonyError("the challenge is not expected");
  return data.challenge;
}

/**
 * Removes an attestation with certificates, as the browser should have (§5.1.3, step 24): we ask for none and trust
 * none, and to verify one the library would fetch the revocation lists at the addresses that it names.
 */
async function withoutCertificates(sent: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoCBOR } = await loadLibrary(
    () => import("@simplewebauthn/server/helpers"),
  );
  const bytes = Buffer.from(sent.response.attestationObject, "base64url");
  const attestation = decodeAttestationObject(new Uint8Array(bytes));
  const encode = (map: unknown) => Buffer.from(isoCBOR.encode(map as Parameters<typeof isoCBOR.encode>[0]));
  // The library's CBOR parser accepts a truncated map, and one that bytes follow.
  if (!encode(attestation).equals(bytes)) throw new Error("the attestation is not one CBOR map");
  const statement: unknown = attestation.get("attStmt");
  if (!(statement instanceof Map)) throw new Error("the attestation has no statement");
  const isSelf = attestation.get("fmt") === "packed" && !statement.has("x5c");
  if (isSelf) return sent;
  const none = new Map([
    ["fmt", "none"],
    ["attStmt", new Map()],
    ["authData", attestation.get("authData")],
  ] as [string, unknown][]);
  const attestationObject = encode(none).toString("base64url");
  return { ...sent, response: { ...sent.response, attestationObject } };
}

/** The library throws an Error for whatever it cannot read or does not accept. */
async function refuseFailure<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (failure) {
    throw new CeremonyError((failure as Error).message.slice(0, 200));
  }
}
