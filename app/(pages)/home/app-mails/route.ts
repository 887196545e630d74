import { switchAppEndMails } from "@/lib/accounts/app-end-switch";
import { requireOwner } from "@/lib/accounts/owner";
import { store } from "@/lib/db/store";
import { form } from "@/lib/http/form";
import { actions, pages } from "@/lib/http/pages";

/** Switches the mails about the end of apps on or off. */
export const POST = form(
  actions.switchAppMails,
  () => pages.home.path,
  async (submission) => {
    const owner = await requireOwner(submission, submission.field("account"));
    await switchAppEndMails(await store(), owner, submission.field("mails") === "on", submission.nowMs);
    return { to: `${pages.home.path}#sessions` };
  },
);
