import { parseEmailAddress } from "@/lib/accounts/email-address";
import { joinWaitlist } from "@/lib/accounts/waitlist";
import { form } from "@/lib/pages/form";
import { store } from "@/lib/store/store";

/** Joins the waitlist. Who is on it, or has an account, gets the same answer. */
export const POST = form({ page: () => "/waitlist", under: ["local", "clerk"] }, async ({ field, nowMs }) => {
  const email = parseEmailAddress(field("email"));
  if (!email) return { to: "/waitlist?problem=email" };
  await joinWaitlist(await store(), email, nowMs);
  return { to: "/waitlist?joined" };
});
