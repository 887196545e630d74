import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/*
 * Signatures of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
 * `v1`, an HMAC-SHA-256 whose secret both sides have, and `v1a`, Ed25519, of which the receiver has the public key.
 */

const prefix = { secret: "whsec_", privateKey: "whsk_", publicKey: "whpk_" };

/** A new secret, and what its receiver gets: the secret itself, or the public key. */
export function makeSecret(isAsymmetric: boolean): {
  secret: string;
  told: { secret: string } | { publicKey: string };
} {
  if (!isAsymmetric) {
    const secret = prefix.secret + randomBytes(32).toString("base64");
    return { secret, told: { secret } };
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d = "", x = "" } = privateKey.export({ format: "jwk" });
  const [seed, publicKey] = [Buffer.from(d, "base64url"), Buffer.from(x, "base64url")];
  return {
    secret: prefix.privateKey + Buffer.concat([seed, publicKey]).toString("base64"),
    told: { publicKey: prefix.publicKey + publicKey.toString("base64") },
  };
}

/** Whether a secret is the private key of an asymmetric pair. */
const isPrivateKey = (secret: string) => secret.startsWith(prefix.privateKey);

/** The headers of a delivery at `nowMs`, signed with each of the secrets. */
export function signDelivery(id: string, body: string, secrets: readonly string[], nowMs: number) {
  const timestamp = String(Math.floor(nowMs / 1000));
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((secret) => signWith(secret, content)).join(" "),
  };
}

function signWith(secret: string, content: Buffer): string {
  if (!isPrivateKey(secret)) {
    const key = Buffer.from(secret.slice(prefix.secret.length), "base64");
    return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  }
  const bytes = Buffer.from(secret.slice(prefix.privateKey.length), "base64");
  const part = (from: number, to: number) => bytes.subarray(from, to).toString("base64url");
  const jwk = { kty: "OKP", crv: "Ed25519", d: part(0, 32), x: part(32, 64) };
  const key = createPrivateKey({ key: jwk, format: "jwk" });
  return `v1a,${sign(null, content, key).toString("base64")}`;
}
