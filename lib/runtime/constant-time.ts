import { timingSafeEqual } from "node:crypto";

/** Compares a value with a secret in constant time. */
export function isSameSecret(sent: string, secret: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}
