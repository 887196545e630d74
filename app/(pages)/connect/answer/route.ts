import { requireOwner } from "@/lib/accounts/owner";
import { ApiError } from "@/lib/api/errors";
import { actions, pages } from "@/lib/api/pages";
import { type Ask, approve, decline, findAsking, isAnswered, readAsk } from "@/lib/connect/approval";
import { form, withProblem } from "@/lib/pages/form";
import { store } from "@/lib/store/store";

/**
 * Takes the owner's word. The browser goes on from a page of its own: browsers hold every redirect after a form to the
 * page's policy (CSP `form-action`), and an app's address is not ours.
 */
export const POST = form(
  actions.answerApp,
  (field) => pageOf(readAsk(field)),
  async (submission) => {
    const { field, cookie, nowMs } = submission;
    const answer = field("answer");
    if (answer === "sign-in") return { to: pages.signIn.path };
    const ask = readAsk(field);
    const held = cookie("office-request");
    const asking = ask && (await findAsking(ask, held));
    if (asking && ["approve", "decline"].includes(answer)) {
      const owner = await requireOwner(submission).catch(unlessSignedOut);
      if (!owner) return { to: `${withProblem(pageOf(ask), "again")}&away` };
      const { account } = owner;
      await (answer === "approve" ? approve : decline)(await store(), ask, asking, account, nowMs);
    }
    return {
      to: ask && (await isAnswered(ask, held)) ? `${pages.connect.path}?answered=${ask.by}` : pageOf(ask),
    };
  },
);

/**
 * The page renews a session that has run out meanwhile, as Clerk's does in a minute, or leads to sign in. It goes there
 * from a page of its own, for the same reason.
 */
function unlessSignedOut(failure: unknown): undefined {
  if (!(failure instanceof ApiError && failure.status === 401)) throw failure;
}

function pageOf(ask: Ask | undefined): string {
  return ask?.by === "user_code"
    ? `${pages.connect.path}?user_code=${encodeURIComponent(ask.code)}`
    : pages.connect.path;
}
