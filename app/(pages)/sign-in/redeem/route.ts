import { actions, pages } from "@/lib/api/pages";
import { form, withProblem } from "@/lib/pages/form";
import { redeemCode } from "@/lib/sign-in/code";
import { signIn } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

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
    if ("email" in redeemed) return (await signIn(redeemed.email, submission)) ?? over;
    if (redeemed.problem === "over") return over;
    const left = redeemed.problem === "wrong" ? `&left=${redeemed.triesLeft}` : "";
    return { to: withProblem(page, redeemed.problem) + left };
  },
);
