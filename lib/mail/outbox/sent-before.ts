import { asIso } from "@/lib/config/instants";
import { auditedTransaction, type Operator } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { mailKinds } from "@/lib/mail/kinds";
import type { EmailState } from "@/lib/mail/outbox/onboarding-outbox";

/**
 * Takes all mails that were due by `untilMs` as sent, and returns how many these were. A store that was restored has the mails
 * of its day, which a service that ran until then has sent since.
 */
export function takeAsSent(db: Db, untilMs: number, by: Operator, nowMs: number): Promise<number> {
  const readState = async (_: Db, mails: unknown = 0) => ({ mails });
  const about = { by, what: "mails taken as sent", whom: null, facts: { until: asIso(untilMs) }, readState };
  return auditedTransaction(db, about, nowMs, async (transaction) => {
    let mails = 0;
    for (const { takeDue } of mailKinds.values())
      for (let taken = Number.POSITIVE_INFINITY; takeDue && taken > 0; mails += taken)
        taken = (await takeDue(transaction, untilMs)).length;
    const queued = await transaction
      .deleteFrom("sign_in_mails")
      .where("next_attempt_at_ms", "<=", untilMs)
      .executeTakeFirst();
    const series = await transaction
      .updateTable("onboarding_emails")
      .set(({ ref }) => ({
        state: "sent" satisfies EmailState,
        first_attempt_at_ms: ref("due_at_ms"),
        lease_until_ms: null,
      }))
      .where("state", "in", ["scheduled", "sending"] satisfies EmailState[])
      .where("next_attempt_at_ms", "<=", untilMs)
      .executeTakeFirst();
    return mails + Number(queued.numDeletedRows + series.numUpdatedRows);
  });
}
