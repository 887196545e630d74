import { form } from "@/lib/pages/form";
import { redeemCode } from "@/lib/sign-in/code";
import { signIn } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

const over = { to: "/sign-in?problem=over" };

/** The second step of local sign-in: redeems the code. */
export const POST = form(
  { page: () => "/sign-in/code", under: ["local"] },
  async ({ field, cookie, nowMs }) => {
    const browser = cookie("office-code");
    if (!browser) return over;
    const db = await store();
    const redeemed = await redeemCode(db, browser, field("code").replace(/\s/g, ""), nowMs);
    if ("email" in redeemed) return (await signIn(db, redeemed.email, nowMs)) ?? over;
    if (redeemed.problem === "over") return over;
    return { to: `/sign-in/code?problem=wrong&left=${redeemed.triesLeft}` };
  },
);
