import { requireOwner } from "@/lib/accounts/owner";
import { isRecentlyConfirmed } from "@/lib/auth/browser-session";
import { removePasskeys } from "@/lib/auth/passkeys";
import { store } from "@/lib/db/store";
import { form, withProblem } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

const page = pages.home.path;

/** Removes one of the owner's passkeys, if the owner has proved in the last five minutes who they are. */
export const POST = form(
  actions.removePasskey,
  () => page,
  async (submission) => {
    const { account, session } = await requireOwner(submission, submission.field("account"));
    const { nowMs } = submission;
    if (!isRecentlyConfirmed(session?.confirmedAtMs, nowMs)) {
      return { to: `${withProblem(page, "confirm")}#ways` };
    }
    await removePasskeys(await store(), "owner", account, { id: submission.field("passkey") }, nowMs);
    return { to: `${page}?removed#ways` };
  },
);
