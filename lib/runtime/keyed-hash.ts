import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { derivedKeys, type Purpose } from "@/lib/runtime/app-secret";

/** The HMAC-SHA-256 of a text for one purpose, in base64url, under the current `APP_SECRET`. */
export function keyedHash(purpose: Purpose, text: string): string {
  return hashWith(derivedKeys(purpose)[0], text);
}

/** The same under the current secret and the previous one. */
export function keyedHashes(purpose: Purpose, text: string): string[] {
  return derivedKeys(purpose).map((key) => hashWith(key, text));
}

/** Whether a hash that was sent is that of this text, under the current secret or the previous one. */
export function isKeyedHash(sent: string, purpose: Purpose, text: string): boolean {
  return keyedHashes(purpose, text).some((hash) => isSameSecret(sent, hash));
}

function hashWith(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** Compares a value with a secret in constant time. */
export function isSameSecret(sent: string, secret: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}
