import { createHmac, createSecretKey, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  isCurrentlyValid,
  isSignedBy,
  mintSessionToken,
  parseSessionToken,
} from "@/lib/auth/tokens/session-token";

const ours = generateKeyPairSync("rsa", { modulusLength: 2048 });
const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 });
const nowMs = 1_800_000_000_000;
const now = nowMs / 1000;
const claims = {
  iss: "https://clerk.example.com",
  sub: "user_2abc",
  sid: "sess_1",
  iat: now - 10,
  nbf: now - 20,
  exp: now + 50,
};

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");

function mint(
  changedClaims: object = {},
  header: object = {},
  key = ours.privateKey,
  hash = "sha256",
): string {
  const signed = `${encode({ alg: "RS256", typ: "JWT", ...header })}.${encode({ ...claims, ...changedClaims })}`;
  return `${signed}.${sign(hash, Buffer.from(signed), key).toString("base64url")}`;
}

async function verify(token: string, atMs = nowMs) {
  const parsed = parseSessionToken(token);
  return parsed && isCurrentlyValid(parsed, atMs) && (await isSignedBy(token, ours.publicKey))
    ? parsed
    : undefined;
}

describe("a session token", () => {
  it("contains the subject, the session and the issuer", async () => {
    expect(await verify(mint({ azp: "https://office.example.com" }, { kid: "ins_x" }))).toMatchObject({
      keyId: "ins_x",
      issuer: "https://clerk.example.com",
      subject: "user_2abc",
      sessionId: "sess_1",
      origin: "https://office.example.com",
    });
  });

  it.each([
    ["no azp, as native apps send", { azp: undefined }],
    ["an audience that is none", { aud: null }],
    ["an active sign-in", { sts: "active" }],
    ["claims that we do not know", { v: 2, fva: [1, -1], pla: "u:free" }],
  ])("accepts a token with %s", async (_, changed) => {
    expect(await verify(mint(changed))).toBeDefined();
  });

  it("takes an empty azp for none, and an audience that is none for one that is no resource", async () => {
    const parsed = await verify(mint({ azp: "", aud: 7 }));
    expect(parsed).toMatchObject({ origin: undefined, audience: [] });
  });

  it("accepts Clerk's category of session tokens", async () => {
    expect(await verify(mint({}, { cat: "cl_B7d4PD111AAA", kid: "ins_x" }))).toBeDefined();
  });

  it.each([
    ["without an issuer", { iss: undefined }],
    ["of a machine", { sub: "mch_2abc" }],
    ["without a subject", { sub: undefined }],
    ["without a session", { sid: undefined }],
    ["with an empty session", { sid: "" }],
    ["of a pending sign-in", { sts: "pending" }],
    ["for two parties", { azp: ["https://office.example.com", "https://evil.example"] }],
    ["without an expiry", { exp: undefined }],
    ["with an expiry that is text", { exp: "2099" }],
    ["with an expiry that is no number", { exp: null }],
    ["with a beginning that is text", { nbf: "0" }],
  ])("refuses a token %s", async (_, changed) => {
    expect(await verify(mint(changed))).toBeUndefined();
  });

  it.each([
    ["an unsigned one", `${encode({ alg: "none" })}.${encode(claims)}.x`],
    ["one signed by another key", mint({}, {}, foreign.privateKey)],
    [
      "one that brings the key",
      mint({}, { jwk: foreign.publicKey.export({ format: "jwk" }) }, foreign.privateKey),
    ],
    ["one whose key is elsewhere", mint({}, { jku: "https://evil.example/keys" }, foreign.privateKey)],
    ["one of several keys", mint({}, { kid: ["a", "ins_x"] })],
    ["RS512", mint({}, { alg: "RS512" }, ours.privateKey, "sha512")],
    ["one that only says RS512", mint({}, { alg: "RS512" })],
    ["a JWT template's", mint({}, { cat: "cl_B7d4PD222AAA" })],
    ["a machine token", mint({}, { cat: "cl_B7d4PD333AAA" })],
    ["one with critical extensions", mint({}, { crit: ["exp"] })],
    ["an opaque one", "ak_live_0123456789"],
    ["an empty one", ""],
    ["one with a padded part", `${mint()}=`],
    ["one with a part too many", `${mint()}.x`],
    [
      "one whose payload is no JSON",
      `${encode({ alg: "RS256" })}.${Buffer.from("{").toString("base64url")}.x`,
    ],
    ["one over 8 KiB", mint({ filler: "x".repeat(8192) })],
  ])("refuses %s", async (_, token) => {
    expect(await verify(token)).toBeUndefined();
  });

  it.each(["pem", "der"])("refuses HS256 keyed with the public key, as %s", async (format) => {
    const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
    const key = ours.publicKey.export({ type: "spki", format: format as "pem" });
    const token = `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
    expect(await verify(token)).toBeUndefined();
  });

  it("refuses a token altered in its header, claims or signature", async () => {
    const parts = mint().split(".");
    for (const at of [0, 1, 2]) {
      const altered = parts.map((part, index) => (index === at ? `${part.slice(0, -6)}AAAAAA` : part));
      expect(await verify(altered.join("."))).toBeUndefined();
    }
  });

  it("allows five seconds of clock skew on either side, and no more", async () => {
    const atSeconds = (seconds: number) =>
      verify(mint({ iat: now, nbf: now, exp: now + 60 }), nowMs + seconds * 1000);
    expect(await atSeconds(-5)).toBeDefined();
    expect(await atSeconds(-5.001)).toBeUndefined();
    expect(await atSeconds(64.999)).toBeDefined();
    expect(await atSeconds(65)).toBeUndefined();
  });

  it("is valid from its iat or nbf on, whichever is later", async () => {
    expect(await verify(mint({ iat: now + 6, nbf: now - 60 }))).toBeUndefined();
    expect(await verify(mint({ iat: now - 60, nbf: now + 6 }))).toBeUndefined();
  });

  it("throws if our key is invalid, instead of reporting a bad signature", async () => {
    await expect(isSignedBy(mint(), createSecretKey("x", "utf8"))).rejects.toThrow(TypeError);
  });

  it("is minted in the same format, for at most an hour", async () => {
    const key = { kid: "key_1", issuer: "urn:corner-office:x", privateKey: ours.privateKey };
    const terms = { subject: "user_1", sessionId: "sess_1", origin: "https://office.example.com" };
    const endsAtMs = nowMs + 60 * 60 * 1000;
    const minted = await mintSessionToken({ ...terms, endsAtMs }, key, nowMs);
    expect(minted.expiresAtMs).toBe(endsAtMs);
    expect(await verify(minted.token)).toMatchObject({
      ...terms,
      keyId: "key_1",
      issuer: "urn:corner-office:x",
      startsAt: now,
      endsAt: now + 3600,
    });
    const mintLonger = mintSessionToken({ ...terms, endsAtMs: endsAtMs + 1000 }, key, nowMs);
    await expect(mintLonger).rejects.toThrow(RangeError);
  });
});
