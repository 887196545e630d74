import * as z from "zod";
import { hooks } from "@/lib/api/pages";
import { webhook } from "@/lib/pages/webhook";
import { settings } from "@/lib/settings/settings";
import { clerkUser, dropClerkUser, keepClerkUser } from "@/lib/sign-in/clerk-user";
import { store } from "@/lib/store/store";

const deletedUser = z.object({ id: z.string() });

const keep = async (data: unknown, nowMs: number) =>
  keepClerkUser(await store(), clerkUser.parse(data), nowMs);

/** What Clerk says of its users: their accounts follow. */
export const { POST } = webhook(
  hooks.clerk,
  () => {
    const { signIn } = settings();
    return signIn.kind === "clerk" ? signIn.webhookKey : undefined;
  },
  {
    "user.created": keep,
    "user.updated": keep,
    "user.deleted": async (data, nowMs) => dropClerkUser(await store(), deletedUser.parse(data).id, nowMs),
  },
);
