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
  async ({ field, cookie, nowMs }) => {
    const browser = cookie("office-code");
    if (!browser) return over;
    const db = await store();
    const redeemed = await redeemCode(db, browser, field("code").replace(/\s/g, ""), nowMs);
    if ("email" in redeemed) return (await signIn(db, redeemed.email, nowMs)) ?? over;
    if (redeemed.problem === "over") return over;
    return { to: `${withProblem(page, "wrong")}&left=${redeemed.triesLeft}` };
  },
);
