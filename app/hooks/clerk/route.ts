import * as z from "zod";
import { clerkUser, deleteClerkUser, syncClerkUser } from "@/lib/accounts/clerk-user";
import type { SessionKind } from "@/lib/auth/sessions/session";
import { endSessionsOf } from "@/lib/auth/sessions/session-end";
import { deleteCustomer } from "@/lib/billing/customer/customer";
import { settings } from "@/lib/config/settings";
import { accountBy } from "@/lib/db/account-by";
import { store } from "@/lib/db/store";
import { handleEndpoint } from "@/lib/http/handler";
import { eventWith, processEvents, signedWith } from "@/lib/http/hook-events";
import { hooks } from "@/lib/http/register/hooks";

const deletedUser = z.object({ id: z.string() });

const sync = eventWith(clerkUser, async (user, nowMs) => syncClerkUser(await store(), user, nowMs));

const endedSession = z.object({ id: z.string().min(1), user_id: z.string() });

/**
 * Records that a session has ended at Clerk, so that its tokens are refused although they live for another minute, and
 * ends the sessions that were started in it, or those of one kind.
 */
const end = (how: "ended" | "revoked", which: { kind?: SessionKind }) =>
  eventWith(endedSession, async ({ id, user_id }, nowMs) => {
    const db = await store();
    await db
      .insertInto("clerk_sessions_ended")
      .values({ id, ended_at_ms: nowMs })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const account = await accountBy(db, "subject", user_id).select("id").executeTakeFirst();
    const about = { by: "clerk", what: `session ${how}` } as const;
    if (account)
      await endSessionsOf(
        db,
        { ...about, accountId: account.id, which: { clerk_session: id, ...which } },
        nowMs,
      );
  });

/** Clerk's webhooks about users and sessions: updates accounts, and ends tokens and app sessions with their session. */
const process = processEvents({
  "user.created": sync,
  "user.updated": sync,
  // Signing out leaves apps connected, as in local sign-in.
  "session.ended": end("ended", { kind: "program" }),
  "session.removed": end("ended", { kind: "program" }),
  // It may have been an intruder's, who could have connected apps.
  "session.revoked": end("revoked", {}),
  "user.deleted": eventWith(deletedUser, async ({ id }, nowMs) => {
    await deleteCustomer(await store(), "subject", id, nowMs);
    await deleteClerkUser(await store(), id, nowMs);
  }),
});

function readKey(): Buffer | undefined {
  const { signIn } = settings();
  return signIn.kind === "clerk" ? signIn.webhookKey : undefined;
}

export const { POST } = handleEndpoint(hooks.clerk, signedWith(readKey), process);
