import { dayMs } from "@/lib/config/durations";
import { settings } from "@/lib/config/settings";
import { auditEntries } from "@/lib/db/audit";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import type { SentHeaders } from "@/lib/http/call";
import { isKnownTo } from "@/lib/http/known-browser";

/** Whether a mail tells the owner of a sign-in: in a browser that had not signed in to the account before. */
export async function isNewBrowser(
  db: Db,
  headers: SentHeaders,
  { email, created_at_ms: sinceMs }: { email: string; created_at_ms: number },
  nowMs: number,
): Promise<boolean> {
  if (isKnownTo(headers, email)) return false;
  // The first sign-in is no news. The audit forgets it, so an older account counts as used.
  if (sinceMs <= nowMs - settings().retentionDays * dayMs) return true;
  return hasRow(auditEntries(db, { whom: [email], what: "sign in", sinceMs }).limit(1));
}
