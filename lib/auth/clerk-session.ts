import * as z from "zod";
import { endSessionsOf, type SessionKind } from "@/lib/auth/session";
import type { Db } from "@/lib/db/store";

/** `session.ended`, `session.removed` and `session.revoked` data. */
export const clerkSession = z.object({ id: z.string().min(1), user_id: z.string() });

/** What ends with a session of Clerk's: signing out leaves apps be, as under local sign-in. */
const endsWith = {
  ended: ["program"],
  /** Somebody has thrown it out: whoever sat there may have let apps in. */
  revoked: ["program", "app"],
} as const satisfies Record<string, readonly SessionKind[]>;

/**
 * Refuses the tokens of a session that is over at Clerk from now on, though they live for another minute, and ends the
 * sessions that were made in it.
 */
export async function endClerkSession(
  db: Db,
  { id, user_id }: z.infer<typeof clerkSession>,
  how: keyof typeof endsWith,
  nowMs: number,
): Promise<void> {
  await db
    .insertInto("clerk_sessions_ended")
    .values({ id, ended_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const account = await db
    .selectFrom("accounts")
    .select("id")
    .where("subject", "=", user_id)
    .executeTakeFirst();
  if (!account) return;
  const which = { clerkSession: id, kinds: endsWith[how] };
  await endSessionsOf(db, { by: "clerk", what: `session ${how}` }, account.id, which, nowMs);
}
