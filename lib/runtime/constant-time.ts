import { timingSafeEqual } from "node:crypto";

/** Whether what was sent is the secret, in a time that does not depend on where they differ. */
export function isSameSecret(sent: string, secret: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}
