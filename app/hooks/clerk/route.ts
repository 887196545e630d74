import { z } from "zod";
import { settings } from "@/lib/settings";
import { clerkUser, dropClerkUser, keepClerkUser } from "@/lib/sign-in/clerk-user";
import { store } from "@/lib/store/store";
import { webhook } from "@/lib/webhook";

const deletedUser = z.object({ id: z.string() });

const keep = async (data: unknown, nowMs: number) =>
  keepClerkUser(await store(), clerkUser.parse(data), nowMs);

/** What Clerk says of its users: their accounts follow. */
export const { POST } = webhook(
  () => {
    const { signIn } = settings();
    return signIn.kind === "clerk" ? signIn.webhookKey : undefined;
  },
  {
    "user.created": keep,
    "user.updated": keep,
    "user.deleted": async (data) => dropClerkUser(await store(), deletedUser.parse(data).id),
  },
);
