import { ownerForm } from "@/lib/accounts/owner-form";
import { removePasskeys } from "@/lib/auth/passkeys";
import { store } from "@/lib/db/store";
import { actions } from "@/lib/http/pages";

/** Removes one of the owner's passkeys, if the owner has proved in the last five minutes who they are. */
export const POST = ownerForm(actions.removePasskey, async ({ field, nowMs }, { account }) => {
  await removePasskeys(await store(), "owner", account, { id: field("passkey") }, nowMs);
  return { to: `${actions.removePasskey.page}?removed#ways` };
});
