import { createHash } from "node:crypto";

/**
 * What an erased person's account, or user at Clerk, is called from then on. An id is random and long: nobody comes from
 * this back to it, but who holds the id, as a link in a mail does, finds what stays.
 */
export function pseudonymOf(id: string): string {
  const [prefix] = id.split("_");
  const digest = createHash("sha256").update(`corner-office:erased:v1:${id}`).digest("base64url");
  return `${prefix}_${digest.slice(0, 22)}`; // 132 bits, as many characters as an account's id has
}
