import { asIso } from "@/lib/config/instants";
import { waitlistBounds } from "@/lib/config/limits";
import { auditedTransaction } from "@/lib/db/audit";
import { paginate } from "@/lib/db/pagination";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { transact } from "@/lib/db/transaction";
import { ApiError } from "@/lib/http/errors";
import { enqueueMail } from "@/lib/mail/outbox/outbox";
import { hashMailbox } from "@/lib/mail/outbox/suppressions";
import { confirmationMs } from "@/lib/mail/waitlist-confirmation";
import { mintSecret } from "@/lib/runtime/secret";

/**
 * Adds an email in lower case to the waitlist, and queues the mail that asks to confirm it. An email that is already there
 * keeps its position, and is written anyway, so that neither the answer nor its duration reveals that. Returns false, for
 * every email, while the list is full.
 */
export async function joinWaitlist(db: Db, email: string, nowMs: number): Promise<boolean> {
  if ((await countWaiting(db)) >= waitlistBounds.waiting) return false;
  await transact(db, async (transaction) => {
    const mailbox_hash = hashMailbox(email);
    await transaction
      .insertInto("waitlist")
      .values({
        email,
        joined_at_ms: nowMs,
        mailbox_hash,
        unconfirmed_until_ms: nowMs + confirmationMs,
      })
      .onConflict((conflict) => conflict.column("email").doUpdateSet({ mailbox_hash }))
      .execute();
    const mail = { kind: "waitlist", to: email, token: mintSecret() } as const;
    await enqueueMail(transaction, mail, { nowMs });
  });
  return true;
}

/** Counts the emails that wait for an invitation and joined at or after `sinceMs`. */
export async function countWaiting(db: Db, sinceMs = 0): Promise<number> {
  const { count } = await db
    .selectFrom("waitlist")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("invited_at_ms", "is", null)
    .where("joined_at_ms", ">=", sinceMs)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Removes an email from the waitlist. Throws an {@link ApiError} if it is not on it. */
export async function removeFromWaitlist(db: Db, email: string, nowMs: number): Promise<void> {
  const readState = (transaction: Db) => {
    const waiting = transaction.selectFrom("waitlist").select(["joined_at_ms", "invited_at_ms"]);
    return waiting.where("email", "=", email).executeTakeFirst();
  };
  const about = { by: "operator", what: "waitlist remove", whom: email, readState } as const;
  await auditedTransaction(db, about, nowMs, async (transaction) => {
    const deletion = transaction.deleteFrom("waitlist").where("email", "=", email).returning("email");
    if (await deletion.executeTakeFirst()) return;
    throw new ApiError("not_found", {
      message: "This email is not on the waitlist.",
      hint: "See 'waitlist list'.",
    });
  });
}

/** The row of an email on the waitlist. */
export function findWaiting(db: Db, email: string): Promise<Tables["waitlist"] | undefined> {
  return db.selectFrom("waitlist").selectAll().where("email", "=", email).executeTakeFirst();
}

/** The query of the waitlist, oldest first, after a position. */
export function selectWaitlist(db: Db, { joined_at_ms, email } = { joined_at_ms: 0, email: "" }) {
  return db
    .selectFrom("waitlist")
    .select(["email", "joined_at_ms", "confirmed_at_ms", "invited_at_ms"])
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple("joined_at_ms", "email"), ">", tuple(joined_at_ms, email)),
    )
    .orderBy("joined_at_ms")
    .orderBy("email");
}

type ListedWaiting = Pick<Tables["waitlist"], "email" | "joined_at_ms" | "confirmed_at_ms" | "invited_at_ms">;

/** Lists the waitlist page by page, oldest first. */
export async function* listWaitlist(db: Db) {
  const rows = paginate<ListedWaiting>((last, limit) => selectWaitlist(db, last).limit(limit).execute());
  for await (const page of rows) {
    yield page.map(({ email, joined_at_ms, confirmed_at_ms, invited_at_ms }) => ({
      email,
      joinedAt: asIso(joined_at_ms),
      confirmedAt: asIso(confirmed_at_ms),
      invitedAt: asIso(invited_at_ms),
    }));
  }
}
