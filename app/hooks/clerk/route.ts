import * as z from "zod";
import { hooks } from "@/lib/api/pages";
import { webhook } from "@/lib/pages/webhook";
import { settings } from "@/lib/settings/settings";
import { clerkSession, endClerkSession } from "@/lib/sign-in/clerk-session";
import { clerkUser, dropClerkUser, keepClerkUser } from "@/lib/sign-in/clerk-user";
import { store } from "@/lib/store/store";

const deletedUser = z.object({ id: z.string() });

const keep = async (data: unknown, nowMs: number) =>
  keepClerkUser(await store(), clerkUser.parse(data), nowMs);

const end = (how: "ended" | "revoked") => async (data: unknown, nowMs: number) =>
  endClerkSession(await store(), clerkSession.parse(data), how, nowMs);

/** What Clerk says of its users and their sessions: accounts follow, and what hangs on a session. */
export const { POST } = webhook(
  hooks.clerk,
  () => {
    const { signIn } = settings();
    return signIn.kind === "clerk" ? signIn.webhookKey : undefined;
  },
  {
    "user.created": keep,
    "user.updated": keep,
    "session.ended": end("ended"),
    "session.removed": end("ended"),
    "session.revoked": end("revoked"),
    "user.deleted": async (data, nowMs) => dropClerkUser(await store(), deletedUser.parse(data).id, nowMs),
  },
);
