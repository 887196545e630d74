import { createHash } from "node:crypto";
import { sql } from "kysely";

/**
 * The pseudonym of an erased account or Clerk user. Ids are long and random, so a pseudonym cannot be traced back.
 * Anyone who has the id, for example from a link in a mail, can still find the remaining rows.
 */
export function pseudonymOf(id: string): string {
  const [prefix] = id.split("_");
  const digest = createHash("sha256").update(`corner-office:erased:v1:${id}`).digest("base64url");
  return `${prefix}_${digest.slice(0, 22)}`; // 132 bits, as long as an account id
}

const erasedHost = "erased.invalid"; // RFC 2606 §2: this host can never exist

/** The email of the anonymous account that an erasure leaves, by its pseudonym. */
export const anonymousEmail = (id: string) => `${id.toLowerCase()}@${erasedHost}`;

/** The condition in SQL that an account is one that an erasure has left. */
export const isAnonymous = (row: "new" | "old" | "accounts") => `${row}.email like '%@${erasedHost}'`;

/** The condition that an account is someone's: an anonymous one keeps a ledger and the links in mails, and is in no list. */
export const isSomeones = sql<boolean>`not (${sql.raw(isAnonymous("accounts"))})`;
