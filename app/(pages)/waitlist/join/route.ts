import { parseEmailAddress } from "@/lib/accounts/email-address";
import { joinWaitlist } from "@/lib/accounts/waitlist";
import { actions, pages } from "@/lib/api/pages";
import { form, withProblem } from "@/lib/pages/form";
import { store } from "@/lib/store/store";

const page = pages.waitlist.path;

/** Joins the waitlist. Who is on it, or has an account, gets the same answer. */
export const POST = form(
  actions.joinWaitlist,
  () => page,
  async ({ field, nowMs }) => {
    const email = parseEmailAddress(field("email"));
    if (!email) return { to: withProblem(page, "email") };
    await joinWaitlist(await store(), email, nowMs);
    return { to: `${page}?joined` };
  },
);
