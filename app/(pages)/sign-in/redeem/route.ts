import { requireSigningKey } from "@/lib/auth/key-ring";
import { signIn, startOwnSession } from "@/lib/auth/local-sign-in";
import { type CodeEnd, redeemCode } from "@/lib/auth/sign-in-code";
import { store } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";
import { pathAfterSignIn } from "@/lib/oauth/approval";

const page = pages.code.path;
const startAgain = (problem: CodeEnd | "unasked") => ({ to: withProblem(pages.signIn.path, problem) });

/** The second step of local sign-in: redeems the code. */
export const POST = form(
  actions.redeemCode,
  () => page,
  async (submission) => {
    const browser = submission.cookie("office-code");
    if (!browser) return startAgain("unasked");
    await requireSigningKey(submission.nowMs); // before the code is used up
    const db = await store();
    // In one transaction, so that an outage in between does not use the code up.
    const { redeemed, started } = await transact(db, async (transaction) => {
      const redeemed = await redeemCode(transaction, browser, submission.field("code"), submission.nowMs);
      const started =
        "email" in redeemed
          ? await startOwnSession(transaction, redeemed.email, "code", submission)
          : undefined;
      return { redeemed, started };
    });
    if ("email" in redeemed) {
      const signedIn = await signIn(db, redeemed.email, started, submission);
      return signedIn
        ? { ...signedIn, to: await pathAfterSignIn(submission.headers, signedIn.to) }
        : startAgain("used");
    }
    const { problem } = redeemed;
    if (problem === "wrong") return { to: `${withProblem(page, problem)}&left=${redeemed.triesLeft}` };
    return problem === "form" ? { to: withProblem(page, problem) } : startAgain(problem);
  },
);
