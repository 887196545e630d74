import { joinWaitlist } from "@/lib/accounts/joining/waitlist";
import { parseTypedEmail, whyNotAnEmail } from "@/lib/config/email-address";
import { rateLimits } from "@/lib/config/limits";
import { store } from "@/lib/db/store";
import { fieldForPage, handleForm, withProblem } from "@/lib/http/form";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { confirmByToken } from "@/lib/mail/waitlist-confirmation";
import { consumeLimit } from "@/lib/rate-limit/rate-limit";
import { log } from "@/lib/runtime/log";

const page = pages.waitlist.path;

/** What the page of the waitlist sends. */
export const waitlistHandlers = {
  /** Joins the waitlist. The response is the same if the email is on it already or has an account. */
  joinWaitlist: handleForm(forms.joinWaitlist, {}, async (call) => {
    const typed = call.field("email");
    const email = parseTypedEmail(typed);
    if (!email) return { to: withProblem(page, whyNotAnEmail(typed)) };
    const refused = await consumeLimit("waitlist", rateLimits.waitlist, call.circles);
    if (refused) return { to: withProblem(page, refused.whose === "all" ? "all" : "network") };
    if (await joinWaitlist(await store(), email, call.nowMs)) return { to: `${page}?joined` };
    log().warn("the waitlist is full: no one can join until some are invited or removed");
    return { to: withProblem(page, "full") };
  }),

  /** Confirms an email by the link of its mail. A GET changes nothing, so programs that open links do not. */
  confirmWaitlist: handleForm(
    forms.confirmWaitlist,
    { page: (call) => `${page}?token=${encodeURIComponent(fieldForPage(call, page, "token"))}` },
    async ({ field, nowMs }) => {
      const isConfirmed = await confirmByToken(await store(), field("token"), nowMs);
      return { to: isConfirmed ? `${page}?confirmed` : withProblem(page, "link") };
    },
  ),
};
