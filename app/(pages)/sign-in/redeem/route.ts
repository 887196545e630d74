import { signIn } from "@/lib/auth/local-sign-in";
import { redeemCode } from "@/lib/auth/sign-in-code";
import { store } from "@/lib/db/store";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import { pathAfterSignIn } from "@/lib/oauth/approval";

const page = pages.code.path;
const over = { to: withProblem(pages.signIn.path, "over") };

/** The second step of local sign-in: redeems the code. */
export const POST = form(
  actions.redeemCode,
  () => page,
  async (submission) => {
    const browser = submission.cookie("office-code");
    if (!browser) return over;
    const redeemed = await redeemCode(await store(), browser, submission.field("code"), submission.nowMs);
    if ("email" in redeemed) {
      const signedIn = await signIn(redeemed.email, "code", submission);
      return signedIn ? { ...signedIn, to: await pathAfterSignIn(submission.headers) } : over;
    }
    if (redeemed.problem === "over") return over;
    const left = redeemed.problem === "wrong" ? `&left=${redeemed.triesLeft}` : "";
    return { to: withProblem(page, redeemed.problem) + left };
  },
);
