import { change } from "@/lib/store/audit";
import { inPages } from "@/lib/store/paging";
import type { Db } from "@/lib/store/store";
import type { Tables } from "@/lib/store/tables";

/** Puts an email on the waitlist; one that is there already stays where it is. */
export async function joinWaitlist(db: Db, email: string, nowMs: number): Promise<void> {
  const whom = email.toLowerCase();
  const look = (transaction: Db) =>
    transaction.selectFrom("waitlist").select("joined_at_ms").where("email", "=", whom).executeTakeFirst();
  await change(db, { by: "visitor", what: "waitlist join", whom, look }, nowMs, async (transaction) => {
    await transaction
      .insertInto("waitlist")
      .values({ email: whom, joined_at_ms: nowMs, invited_at_ms: null })
      .onConflict((conflict) => conflict.column("email").doNothing())
      .execute();
  });
}

/** Whether an email is on the waitlist. */
export async function isOnWaitlist(db: Db, email: string): Promise<boolean> {
  const row = await db.selectFrom("waitlist").select("email").where("email", "=", email).executeTakeFirst();
  return row !== undefined;
}

/** Notes that an email was invited, if it is on the waitlist. */
export async function markInvited(db: Db, email: string, nowMs: number): Promise<void> {
  await db.updateTable("waitlist").set({ invited_at_ms: nowMs }).where("email", "=", email).execute();
}

/** Everybody on the waitlist, who came first first, page by page. */
export async function* listWaitlist(db: Db) {
  const rows = inPages<Tables["waitlist"]>((last, limit) => {
    const query = db.selectFrom("waitlist").selectAll().orderBy("joined_at_ms").orderBy("email").limit(limit);
    if (!last) return query.execute();
    const { joined_at_ms, email } = last;
    return query
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple("joined_at_ms", "email"), ">", tuple(joined_at_ms, email)),
      )
      .execute();
  });
  for await (const page of rows) {
    yield page.map(({ email, joined_at_ms, invited_at_ms }) => ({
      email,
      joinedAt: new Date(joined_at_ms).toISOString(),
      invitedAt: invited_at_ms === null ? null : new Date(invited_at_ms).toISOString(),
    }));
  }
}
