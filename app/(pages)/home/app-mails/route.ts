import { switchAppEndMails } from "@/lib/accounts/app-end-switch";
import { ownerForm } from "@/lib/accounts/owner-form";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Switches the mails about the end of apps on or off. */
export const POST = ownerForm(actions.switchAppMails, async ({ field, nowMs }, owner) => {
  await switchAppEndMails(await store(), owner, field("mails") === "on", nowMs);
  return { to: `${actions.switchAppMails.page}#sessions` };
});
