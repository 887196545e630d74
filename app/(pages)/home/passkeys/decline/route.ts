import { ownerForm } from "@/lib/accounts/owner-form";
import { declinePasskeys } from "@/lib/auth/passkeys";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Puts the offer of a passkey away for good. */
export const POST = ownerForm(actions.declinePasskeys, async ({ nowMs }, { account }) => {
  await declinePasskeys(await store(), account, nowMs);
  return { to: actions.declinePasskeys.page };
});
