import { createHash } from "node:crypto";
import type { AuditedChange } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";

/** Not keyed by APP_SECRET: a suppression has to outlive every secret. */
export function hashEmail(email: string): string {
  return createHash("sha256")
    .update(`corner-office:email-suppression:v1:${email.toLowerCase()}`)
    .digest("base64url");
}

/** Whether an address gets no onboarding mail any more. */
export async function isSuppressed(db: Db, recipientHash: string): Promise<boolean> {
  const row = await db
    .selectFrom("email_suppressions")
    .select("email_hash")
    .where("email_hash", "=", recipientHash)
    .executeTakeFirst();
  return row !== undefined;
}

/** What an entry of the audit says of addresses. */
export function readSuppressionsForAudit(recipientHashes: string[]): AuditedChange["look"] {
  return async (transaction) => {
    const suppressed = [];
    for (const hash of recipientHashes) if (await isSuppressed(transaction, hash)) suppressed.push(hash);
    return { suppressed };
  };
}

/** Suppresses addresses for good, in the caller's transaction. Again is the same. */
export async function suppress(transaction: Db, recipientHashes: string[], nowMs: number): Promise<void> {
  if (recipientHashes.length === 0) return;
  await transaction
    .insertInto("email_suppressions")
    .values(recipientHashes.map((email_hash) => ({ email_hash, created_at_ms: nowMs })))
    .onConflict((conflict) => conflict.column("email_hash").doNothing())
    .execute();
}

/** Follows an account to another address, in the caller's transaction: who stopped our mail stays unmailed there. */
export async function moveSuppression(
  transaction: Db,
  { from, to }: { from: string; to: string },
  nowMs: number,
): Promise<void> {
  if (await isSuppressed(transaction, hashEmail(from))) await suppress(transaction, [hashEmail(to)], nowMs);
}
