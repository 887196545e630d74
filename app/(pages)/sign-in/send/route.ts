import { parseEmailAddress } from "@/lib/accounts/email-address";
import { actions, pages } from "@/lib/api/pages";
import { form, withProblem } from "@/lib/pages/form";
import { sendCode } from "@/lib/sign-in/local-sign-in";

const page = pages.signIn.path;

/** The first step of local sign-in: asks for a code. */
export const POST = form(
  actions.sendCode,
  () => page,
  async (submission) => {
    const email = parseEmailAddress(submission.field("email"));
    return email ? sendCode(email, submission) : { to: withProblem(page, "email") };
  },
);
