import { decodeAttestationObject, parseAuthenticatorData } from "@simplewebauthn/server/helpers";
import { describe, expect, it } from "vitest";
import {
  CeremonyError,
  verifyAuthentication,
  verifyRegistration,
} from "@/lib/auth/passkeys/passkey-ceremony";
import { Authenticator, type Cbor, flag, type Lies, type Response } from "@/tests/support/authenticator";
import specification from "./webauthn-vectors.json";

const toBody = (response: unknown) => Buffer.from(JSON.stringify(response));

/** The relying party of the specification's vectors. */
const party = { id: "example.org", name: "Example", origin: "https://example.org" };

type Vector = (typeof specification.vectors)[number];

function register({ registration }: Vector) {
  const { challenge, credential_id: id, ...response } = registration;
  const body = toBody({ id, rawId: id, type: "public-key", response });
  return created(body, challenge);
}

function authenticate({ registration, authentication }: Vector) {
  const { challenge, ...response } = authentication;
  const id = registration.credential_id;
  const body = toBody({ id, rawId: id, type: "public-key", response });
  return proved(body, challenge, publicKeyOf(registration));
}

function publicKeyOf({ attestationObject }: Vector["registration"]): string {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const { credentialPublicKey = new Uint8Array() } = parseAuthenticatorData(attestation.get("authData"));
  return Buffer.from(credentialPublicKey).toString("base64url");
}

/** The credential that is registered, or why none is. */
function created(body: Buffer, challenge: string) {
  return attempt(async () => {
    const { credential } = await verifyRegistration(party, body, (sent) => sent === challenge);
    return credential;
  });
}

/** The counter of an authentication, or why it proves nothing. */
function proved(body: Buffer, challenge: string, public_key: string) {
  return attempt(async () => {
    const isExpected = (sent: string) => sent === challenge;
    const { counter } = await verifyAuthentication(party, body, isExpected, async () => ({ public_key }));
    return { counter };
  });
}

async function attempt<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (failure) {
    expect(failure).toBeInstanceOf(CeremonyError);
    return (failure as CeremonyError).because;
  }
}

const unverified = "the user was not verified"; // which is checked after the signature
const embedded = "the page was embedded";
const verified = {
  credential_id: expect.any(String),
  rp_id: party.id,
  public_key: expect.any(String),
  counter: 0,
};
const proven = { counter: 0 };

/** The verdict of a relying party that requires user verification, and is never embedded, on each vector. */
const expected: Record<string, [registration: unknown, authentication: unknown]> = {
  "ES256 Credential with No Attestation": [unverified, unverified],
  "ES256 Credential with Self Attestation": [verified, unverified],
  'ES256 Credential with "crossOrigin": true in clientDataJSON': [embedded, embedded],
  'ES256 Credential with "topOrigin" in clientDataJSON': [embedded, embedded],
  "ES256 Credential with very long credential ID": [unverified, proven],
  "Packed Attestation with ES256 Credential": [verified, proven],
  "Packed Attestation with ES384 Credential": [unverified, proven],
  "Packed Attestation with ES512 Credential": [verified, unverified],
  "Packed Attestation with RS256 Credential": [verified, unverified],
  "Packed Attestation with Ed25519 Credential": [unverified, unverified],
  "Packed Attestation with Ed448 Credential": [
    'Unexpected public key alg "-53", expected one of "-8, -7, -35, -36, -257"',
    "Public key had invalid alg -53 (OKP)",
  ],
  "TPM Attestation with ES256 Credential": [verified, proven],
  "Android Key Attestation with ES256 Credential": [verified, unverified],
  "Apple Anonymous Attestation with ES256 Credential": [unverified, unverified],
  "FIDO U2F Attestation with ES256 Credential": [unverified, unverified],
};

describe("the specification's test vectors (§16)", () => {
  it.each(specification.vectors)("verify, and then meet our own rules: $name", async (vector) => {
    expect([await register(vector), await authenticate(vector)]).toEqual(expected[vector.name]);
  });

  it("do not verify with a bit of the signature changed", async () => {
    for (const vector of specification.vectors.filter(({ name }) => expected[name]?.[1] !== embedded)) {
      const bytes = Buffer.from(vector.authentication.signature, "base64url");
      bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
      const changed = { ...vector.authentication, signature: bytes.toString("base64url") };
      const result = await authenticate({ ...vector, authentication: changed });
      expect(result).not.toEqual(proven);
      expect(result, vector.name).not.toBe(unverified);
    }
  });
});

const challenge = "Y2hhbGxlbmdl";
const ask = { challenge, rpId: party.id, rp: party, user: { id: "dXNlcg" } };

function verifyCreated(response: Response) {
  return created(toBody(response), challenge);
}

const byAnotherKey: Lies["attestation"] = [
  "packed",
  new Map<string, Cbor>([
    ["alg", -7],
    ["sig", Buffer.from("3006020101020101", "hex")],
  ]),
];

/** The lies that both ceremonies refuse in the same words. */
const lies: [what: string, lies: Lies, words: string | RegExp][] = [
  ["from another origin", { origin: "https://example.org.evil.example" }, /Unexpected .* origin/],
  ["over plain HTTP", { origin: "http://example.org" }, /Unexpected .* origin/],
  ["for another relying party", { rpId: "evil.example" }, /RP ID/],
  ["to another challenge", { challenge: "b3RoZXI" }, "the challenge is not expected"],
  ["from an embedded page", { crossOrigin: true }, embedded],
  ["with a top origin", { topOrigin: party.origin }, embedded],
  ["without user verification", { flags: flag.userPresent }, unverified],
];

describe("a registration", () => {
  const create = (lies: Lies) => verifyCreated(new Authenticator(party.origin).create(ask, lies));

  it.each<[string, Lies, string | RegExp]>([
    ...lies,
    ["of the other ceremony", { type: "webauthn.get" }, /Unexpected .* type/],
    ["without user presence", { flags: flag.userVerified }, /User presence/],
    ["with an algorithm that was not offered", { algorithm: -65535 }, /Unexpected public key alg "-65535"/],
    ["with a self attestation by another key", { attestation: byAnotherKey }, /attestation|signature/i],
  ])("%s is refused", async (_, lies, words) => {
    expect(await create(lies)).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
  });

  it("whose response names another credential than its authenticator is refused", async () => {
    const response = new Authenticator(party.origin).create(ask);
    expect(await verifyCreated({ ...response, id: "b3RoZXI", rawId: "b3RoZXI" })).toBe(
      "the response names another credential",
    );
  });

  it("with certificates counts as one without: none is trusted, and no address in one is fetched", async () => {
    const certificate = Buffer.from("no certificate");
    const statement = new Map<string, Cbor>([["x5c", new Map([[0, certificate]])]]);
    for (const format of ["packed", "tpm", "android-key", "android-safetynet", "apple", "fido-u2f", "new"]) {
      expect(await create({ attestation: [format, statement] }), format).toEqual(verified);
    }
  });
});

describe("an authentication", () => {
  const authenticator = new Authenticator(party.origin);

  async function get(lies: Lies, by = authenticator) {
    const credential = await verifyCreated(authenticator.create(ask));
    if (typeof credential === "string") throw new Error(credential);
    return proved(toBody(by.get(ask, lies)), challenge, credential.public_key);
  }

  it("is verified, with its counter and without a user handle", async () => {
    expect(await get({ counter: 7, userHandle: null })).toEqual({ counter: 7 });
  });

  it.each<[string, Lies, string | RegExp]>([
    ...lies,
    ["of the other ceremony", { type: "webauthn.create" }, /Unexpected .* type/],
    ["without user presence", { flags: flag.userVerified }, /not present/],
    ["without a signature", { signature: Buffer.alloc(0) }, "the response is malformed"],
  ])("%s is refused", async (_, lies, words) => {
    expect(await get(lies)).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
  });

  it("signed by another credential is refused", async () => {
    expect(await get({}, new Authenticator(party.origin))).toBe("the signature is not by the credential");
  });
});
