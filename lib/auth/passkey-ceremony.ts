import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import * as z from "zod";
import { parseJson } from "@/lib/http/json";
import { loadLibrary } from "@/lib/runtime/load-library";

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

/** A credential to store (§4, credential record): its id and its COSE public key, both in base64url. */
export type Credential = { id: string; publicKey: string; counter: number };

/** A response that does not prove anything. Its message is for the log: the client gets no reason. */
export class CeremonyError extends Error {}

/** A response by a credential that is not stored here. The browser is told, so that it offers the credential no more. */
export class UnknownCredentialError extends CeremonyError {}

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

const credentialFields = {
  id: base64url(maxIdCharacters),
  rawId: base64url(maxIdCharacters),
  type: z.literal("public-key"),
};

const registrationResponse = z.object({
  ...credentialFields,
  response: z.object({ clientDataJSON: base64url(8192), attestationObject: base64url(16_384) }),
});

const authenticationResponse = z.object({
  ...credentialFields,
  response: z.object({
    clientDataJSON: base64url(8192),
    authenticatorData: base64url(8192),
    signature: base64url(4096),
    userHandle: base64url(88).nullish(), // 64 bytes (§5.4.3)
  }),
});

/** The data that a browser signs (§5.8.1). */
const clientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.unknown().optional(),
});

/** Responses to an expected challenge, made on a page of ours. Their signatures are not verified yet. */
export type Registration = ReturnType<typeof readRegistration>;
export type Authentication = ReturnType<typeof readAuthentication>;

/** Reads a response to {@link creationOptions}. Throws a {@link CeremonyError}. */
export function readRegistration(
  { origin }: RelyingParty,
  body: Buffer,
  isExpected: (challenge: string) => boolean,
) {
  const { response, ...credential } = parse(registrationResponse, body);
  const challenge = readChallenge(response.clientDataJSON, "webauthn.create", origin, isExpected);
  return { challenge, sent: { ...credential, response, clientExtensionResults: {} } };
}

/** Reads a response to {@link requestOptions}. Throws a {@link CeremonyError}. */
export function readAuthentication(
  { origin }: RelyingParty,
  body: Buffer,
  isExpected: (challenge: string) => boolean,
) {
  const { response, ...credential } = parse(authenticationResponse, body);
  const challenge = readChallenge(response.clientDataJSON, "webauthn.get", origin, isExpected);
  const { userHandle, ...signed } = response;
  return {
    challenge,
    credentialId: credential.id,
    /** In base64url; an authenticator may leave it out. */
    userHandle: userHandle ?? undefined,
    sent: { ...credential, response: signed, clientExtensionResults: {} },
  };
}

/** Verifies a registration (§7.1). Throws a {@link CeremonyError}. */
export async function verifyRegistration(
  { id, origin }: RelyingParty,
  { challenge, sent }: Registration,
): Promise<Credential> {
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
  requireVerifiedUser(registrationInfo.userVerified);
  const { credential } = registrationInfo;
  if (credential.id !== sent.id) throw new CeremonyError("the response names another credential");
  return {
    id: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
  };
}

/**
 * Verifies an authentication (§7.2). Returns the signature counter, which the caller compares with the stored one.
 * Throws a {@link CeremonyError}.
 */
export async function verifyAuthentication(
  { id, origin }: RelyingParty,
  { challenge, sent }: Authentication,
  publicKey: string,
): Promise<{ counter: number }> {
  const { verifyAuthenticationResponse } = await loadLibrary(() => import("@simplewebauthn/server"));
  const { verified, authenticationInfo } = await refuseFailure(() =>
    verifyAuthenticationResponse({
      response: sent,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: false,
      credential: { id: sent.id, publicKey: Buffer.from(publicKey, "base64url"), counter: 0 },
    }),
  );
  if (!verified) throw new CeremonyError("the signature is not by the credential");
  await requireWholeSignature(sent.response.signature, publicKey);
  requireVerifiedUser(authenticationInfo.userVerified);
  return { counter: authenticationInfo.newCounter };
}

/** Refuses bytes after an ECDSA signature (§6.5.5), which the library ignores: a response has one spelling. */
async function requireWholeSignature(signature: string, publicKey: string): Promise<void> {
  const { cose, decodeCredentialPublicKey } = await loadLibrary(
    () => import("@simplewebauthn/server/helpers"),
  );
  const key = decodeCredentialPublicKey(new Uint8Array(Buffer.from(publicKey, "base64url")));
  if (!cose.isCOSEPublicKeyEC2(key)) return;
  const der = Buffer.from(signature, "base64url");
  const headBytes = der[1] === 0x81 ? 3 : 2; // X.690 §8.1.3
  if (der.length !== headBytes + (der[headBytes - 1] ?? 0))
    throw new CeremonyError("bytes follow the signature");
}

/** Checked after the signature, so that it is the authenticator that says so. */
function requireVerifiedUser(isVerified: boolean): void {
  if (!isVerified) throw new CeremonyError("the user was not verified");
}

function parse<Shape>(schema: z.ZodType<Shape>, body: Buffer): Shape {
  const parsed = schema.safeParse(parseJson(body));
  if (!parsed.success) throw new CeremonyError("the response is malformed");
  return parsed.data;
}

/** The challenge of a response, if it is expected and the ceremony ran on a page of ours that no other page embeds. */
function readChallenge(
  clientDataJSON: string,
  ceremony: "webauthn.create" | "webauthn.get",
  expectedOrigin: string,
  isExpected: (challenge: string) => boolean,
): string {
  const data = parse(clientData, Buffer.from(clientDataJSON, "base64url"));
  const { type, challenge, origin, crossOrigin = false, topOrigin } = data;
  if (type !== ceremony) throw new CeremonyError("the response is to another ceremony");
  if (origin !== expectedOrigin) throw new CeremonyError("the response is from another origin");
  if (crossOrigin || topOrigin !== undefined) throw new CeremonyError("the page was embedded");
  if (!isExpected(challenge)) throw new CeremonyError("the challenge is not expected");
  return challenge;
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
