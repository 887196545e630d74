import { finishPasskey } from "@/lib/accounts/own-passkeys";
import { createHandler } from "@/lib/http/handler";
import { actions } from "@/lib/http/pages";

/** The second step of adding a passkey: verifies and stores the credential that the browser has created. */
export const POST = createHandler(actions.addPasskey, async (call) => {
  await finishPasskey(call);
  return { status: 204, body: null };
});
