import { finishPasskey } from "@/lib/accounts/own-passkeys";
import { ownerHandler } from "@/lib/accounts/owner-form";
import { actions } from "@/lib/http/pages";

/** The second step of adding a passkey: verifies and stores the credential that the browser has created. */
export const POST = ownerHandler(actions.addPasskey, async (call, owner) => {
  await finishPasskey(call, owner);
  return { status: 204, body: null };
});
