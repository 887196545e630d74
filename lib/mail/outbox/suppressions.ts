import { createHash } from "node:crypto";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";

/** Hashes an email without `APP_SECRET`, because a suppression has to outlive every secret. */
export function hashEmail(email: string): string {
  return createHash("sha256")
    .update(`corner-office:email-suppression:v1:${email.toLowerCase()}`)
    .digest("base64url");
}

/** The hash of a mailbox: of an email without what its owner may add to it, after a plus or, at Gmail, by dots. */
export function hashMailbox(email: string): string {
  const at = email.lastIndexOf("@");
  const [local = ""] = email.slice(0, at).split("+");
  const domain = email.slice(at + 1);
  const isGmail = domain === "gmail.com" || domain === "googlemail.com";
  return hashEmail(isGmail ? `${local.replaceAll(".", "")}@gmail.com` : `${local}@${domain}`);
}

/** Whether an address no longer gets onboarding mails. */
export function isSuppressed(db: Db, recipientHash: string): Promise<boolean> {
  return hasRow(
    db.selectFrom("email_suppressions").select("email_hash").where("email_hash", "=", recipientHash),
  );
}

/** Whether a bounce of this type stops the mails to its address: not a transient one, such as of a full mailbox. */
export const isFinalBounce = (type: string | undefined) => type !== "Transient";

/** Suppresses addresses permanently, in the caller's transaction. Idempotent. */
export async function suppress(transaction: Db, recipientHashes: string[], nowMs: number): Promise<void> {
  if (recipientHashes.length === 0) return;
  await transaction
    .insertInto("email_suppressions")
    .values(recipientHashes.map((email_hash) => ({ email_hash, created_at_ms: nowMs })))
    .onConflict((conflict) => conflict.column("email_hash").doNothing())
    .execute();
}
