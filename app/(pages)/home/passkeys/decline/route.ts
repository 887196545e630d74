import { requireOwner } from "@/lib/accounts/owner";
import { declinePasskeys } from "@/lib/auth/passkeys";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

/** Puts the offer of a passkey away for good. */
export const POST = form(
  actions.declinePasskeys,
  () => pages.home.path,
  async (submission) => {
    const { account } = await requireOwner(submission, submission.field("account"));
    await declinePasskeys(await store(), account, submission.nowMs);
    return { to: pages.home.path };
  },
);
