import * as z from "zod";
import { clerkUser, deleteClerkUser, syncClerkUser } from "@/lib/accounts/clerk-user";
import { clerkSession, endClerkSession } from "@/lib/auth/clerk-session";
import { deleteCustomer } from "@/lib/billing/customer";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { hooks } from "@/lib/http/pages";
import { eventWith, webhook } from "@/lib/http/webhook";

const deletedUser = z.object({ id: z.string() });

const sync = eventWith(clerkUser, async (user, nowMs) => syncClerkUser(await store(), user, nowMs));

const end = (how: "ended" | "revoked") =>
  eventWith(clerkSession, async (session, nowMs) => endClerkSession(await store(), session, how, nowMs));

/** Clerk's webhooks about users and sessions: updates accounts, and ends tokens and app sessions with their session. */
export const { POST } = webhook(
  hooks.clerk,
  () => {
    const { signIn } = settings();
    return signIn.kind === "clerk" ? signIn.webhookKey : undefined;
  },
  {
    "user.created": sync,
    "user.updated": sync,
    "session.ended": end("ended"),
    "session.removed": end("ended"),
    "session.revoked": end("revoked"),
    "user.deleted": eventWith(deletedUser, async ({ id }, nowMs) => {
      await deleteCustomer(await store(), "subject", id, nowMs);
      await deleteClerkUser(await store(), id, nowMs);
    }),
  },
);
