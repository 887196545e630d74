import { dayMs } from "@/lib/config/durations";
import { confirmationDays } from "@/lib/config/lifetimes";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { hasRow } from "@/lib/db/has-row";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { pages } from "@/lib/http/register/pages";
import { hashMailbox } from "@/lib/mail/outbox/suppressions";
import { hashSecret } from "@/lib/runtime/secret";

/*
 * Anyone may put any email on the waitlist, so a mail asks its reader to confirm it. So that this is no way to flood a
 * stranger, a mailbox gets at most one a week, however its address is spelled; who has an account, is invited or has
 * confirmed gets none. That is decided when the mail is sent, so that neither the answer to the form nor its timing tells.
 */

/** How long an email stays on the waitlist without being confirmed. */
export const confirmationMs = confirmationDays * dayMs;

const mailEveryMs = 7 * dayMs;

/** The address of the page that confirms an email. */
export function confirmationUrl(token: string): string {
  return `${settings().appUrl}${pages.waitlist.path}?token=${token}`;
}

/** Replaces the token of an earlier mail by this one's. Returns false if this mail is not to be sent. */
export function replaceConfirmation(
  db: Db,
  { to, token }: { to: string; token: string },
  nowMs: number,
): Promise<boolean> {
  return transact(db, async (transaction) => {
    const rows = transaction.selectFrom("waitlist").selectAll().where("mailbox_hash", "=", hashMailbox(to));
    const ofMailbox = await rows.forUpdate().execute();
    const waiting = ofMailbox.find(({ email }) => email === to);
    if (!waiting || waiting.confirmed_at_ms !== null || waiting.invited_at_ms !== null) return false;
    const confirmation_hash = hashSecret("waitlist", token);
    const isAgain = waiting.confirmation_hash === confirmation_hash; // another attempt
    const sinceMs = nowMs - mailEveryMs;
    if (!isAgain && ofMailbox.some((row) => (row.confirmation_mailed_at_ms ?? 0) > sinceMs)) return false;
    if (await hasRow(accountBy(transaction, "email", to).select("id"))) return false;
    await transaction
      .updateTable("waitlist")
      .set({
        confirmation_hash,
        confirmation_mailed_at_ms: nowMs,
        unconfirmed_until_ms: nowMs + confirmationMs,
      })
      .where("email", "=", to)
      .execute();
    return true;
  });
}

/** Confirms the email whose mail had this token. Returns false if there is none, or a later mail replaced the token. */
export function confirmByToken(db: Db, token: string, nowMs: number): Promise<boolean> {
  return hasRow(
    db
      .updateTable("waitlist")
      .set(({ fn, ref, val }) => ({
        confirmed_at_ms: fn.coalesce(ref("confirmed_at_ms"), val(nowMs)),
        unconfirmed_until_ms: null,
      }))
      .where("confirmation_hash", "=", hashSecret("waitlist", token))
      .returning("email"),
  );
}
