import { parseEmailAddress } from "@/lib/accounts/email-address";
import { sendCode } from "@/lib/auth/local-sign-in";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

const page = pages.signIn.path;

/** The first step of local sign-in: requests a code. */
export const POST = form(
  actions.sendCode,
  () => page,
  async (submission) => {
    const email = parseEmailAddress(submission.field("email"));
    return email ? sendCode(email, submission) : { to: withProblem(page, "email") };
  },
);
