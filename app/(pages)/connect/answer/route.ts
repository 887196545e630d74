import { requireOwner } from "@/lib/accounts/owner";
import { actions, pages } from "@/lib/api/pages";
import { type Ask, approve, decline, findAsking, readAsk } from "@/lib/connect/approval";
import { form } from "@/lib/pages/form";
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
    const asking = ask && (await findAsking(ask, cookie("office-request")));
    if (!asking || !["approve", "decline"].includes(answer)) return { to: pageOf(ask) };
    const { account } = await requireOwner(submission);
    const answered = answer === "approve" ? approve : decline;
    const isAnswered = await answered(await store(), ask, asking, account, nowMs);
    return { to: isAnswered ? `${pages.connect.path}?answered=${ask.by}` : pageOf(ask) };
  },
);

function pageOf(ask: Ask | undefined): string {
  return ask?.by === "user_code"
    ? `${pages.connect.path}?user_code=${encodeURIComponent(ask.code)}`
    : pages.connect.path;
}
