import { parseEmailAddress } from "@/lib/accounts/email-address";
import { actions, pages } from "@/lib/api/pages";
import { form, withProblem } from "@/lib/pages/form";
import { sendCode } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

const page = pages.signIn.path;

/** The first step of local sign-in: asks for a code. */
export const POST = form(
  actions.sendCode,
  () => page,
  async ({ field, nowMs }) => {
    const email = parseEmailAddress(field("email"));
    if (!email) return { to: withProblem(page, "email") };
    return sendCode(await store(), email, nowMs);
  },
);
