import * as z from "zod";
import type { SessionKind } from "@/lib/auth/session";
import { endSessionsOf } from "@/lib/auth/session-changes";
import { accountBy } from "@/lib/db/account-by";
import type { Db } from "@/lib/db/store";

/** The data of `session.ended`, `session.removed` and `session.revoked`. */
export const clerkSession = z.object({ id: z.string().min(1), user_id: z.string() });

/** The kinds of session that end with one of Clerk's. Signing out leaves apps connected, as in local sign-in. */
const kindsEndedBy = {
  ended: ["program"],
  /** A revoked session may have been an intruder's, who could have connected apps. */
  revoked: ["program", "app"],
} as const satisfies Record<string, readonly SessionKind[]>;

/**
 * Records that a session has ended at Clerk, so that its tokens are refused although they live for another minute, and
 * ends the sessions that were started in it.
 */
export async function endClerkSession(
  db: Db,
  { id, user_id }: z.infer<typeof clerkSession>,
  how: keyof typeof kindsEndedBy,
  nowMs: number,
): Promise<void> {
  await db
    .insertInto("clerk_sessions_ended")
    .values({ id, ended_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const account = await accountBy(db, "subject", user_id).select("id").executeTakeFirst();
  if (!account) return;
  const which = { clerkSession: id, kinds: kindsEndedBy[how] };
  await endSessionsOf(db, { by: "clerk", what: `session ${how}` }, account.id, which, nowMs);
}
