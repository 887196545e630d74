import { createHash } from "node:crypto";

/**
 * The pseudonym of an erased account or Clerk user. Ids are long and random, so a pseudonym cannot be traced back.
 * Anyone who has the id, for example from a link in a mail, can still find the remaining rows.
 */
export function pseudonymOf(id: string): string {
  const [prefix] = id.split("_");
  const digest = createHash("sha256").update(`corner-office:erased:v1:${id}`).digest("base64url");
  return `${prefix}_${digest.slice(0, 22)}`; // 132 bits, as long as an account id
}
