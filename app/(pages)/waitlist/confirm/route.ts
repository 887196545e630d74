import { confirmByToken } from "@/lib/auth/waitlist-confirmation";
import { store } from "@/lib/db/store";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

const page = pages.waitlist.path;

/** Confirms an email on the waitlist by the link of its mail. A GET changes nothing, so programs that open links do not. */
export const POST = form(
  actions.confirmWaitlist,
  (field) => `${page}?token=${encodeURIComponent(field("token"))}`,
  async ({ field, nowMs }) => {
    const isConfirmed = await confirmByToken(await store(), field("token"), nowMs);
    return { to: isConfirmed ? `${page}?confirmed` : withProblem(page, "link") };
  },
);
