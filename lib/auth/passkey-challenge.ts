import { randomBytes } from "node:crypto";
import { ceremonyMs } from "@/lib/auth/passkey-ceremony";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { isKeyedHash, keyedHash } from "@/lib/runtime/keyed-hash";

/*
 * A challenge proves itself, so that it costs us nothing until it is signed: 16 random bytes, when it expires, and an
 * HMAC of both, the secret of the browser that asked, and the purpose. Only a challenge whose signature was verified is
 * stored, until it expires, so that it works once.
 */

const nonceBytes = 16;
const expiryBytes = 6; // Unix milliseconds
const bodyBytes = nonceBytes + expiryBytes;

/**
 * Makes a challenge in base64url that lives five minutes.
 *
 * @param browser - the secret of the browser that asks
 * @param purpose - what the signature will be used for; it works for nothing else
 */
export function makeChallenge(browser: string, purpose: string, nowMs: number): string {
  const expiry = Buffer.alloc(expiryBytes);
  expiry.writeUIntBE(nowMs + ceremonyMs, 0, expiryBytes);
  const body = Buffer.concat([randomBytes(nonceBytes), expiry]);
  const proof = keyedHash("passkey-challenge:v1", provenText(body, browser, purpose));
  return Buffer.concat([body, Buffer.from(proof, "base64url")]).toString("base64url");
}

/** Whether we gave this challenge to this browser for this purpose within the last five minutes. */
export function isChallenge(challenge: string, browser: string, purpose: string, nowMs: number): boolean {
  const bytes = Buffer.from(challenge, "base64url");
  // Each challenge has one spelling: another one would count as unused.
  if (bytes.toString("base64url") !== challenge || bytes.length <= bodyBytes) return false;
  const [body, proof] = [bytes.subarray(0, bodyBytes), bytes.toString("base64url", bodyBytes)];
  const isOurs = isKeyedHash(proof, "passkey-challenge:v1", provenText(body, browser, purpose));
  return isOurs && nowMs < expiryOf(challenge);
}

/** Uses a challenge up in the caller's transaction. Returns whether it was unused. */
export async function consumeChallenge(transaction: Db, challenge: string, nowMs: number): Promise<boolean> {
  await transaction.deleteFrom("passkey_challenges").where("expires_at_ms", "<=", nowMs).execute();
  return hasRow(
    transaction
      .insertInto("passkey_challenges")
      .values({ challenge, expires_at_ms: expiryOf(challenge) })
      .onConflict((conflict) => conflict.column("challenge").doNothing())
      .returning("challenge"),
  );
}

function expiryOf(challenge: string): number {
  return Buffer.from(challenge, "base64url").readUIntBE(nonceBytes, expiryBytes);
}

function provenText(body: Buffer, browser: string, purpose: string): string {
  return JSON.stringify([body.toString("hex"), browser, purpose]);
}
