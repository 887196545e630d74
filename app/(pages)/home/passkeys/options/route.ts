import { startPasskey } from "@/lib/accounts/own-passkeys";
import { ownerHandler } from "@/lib/accounts/owner-form";
import { cookieHeaders } from "@/lib/http/cookies";
import { actions } from "@/lib/http/pages";

/** The first step of adding a passkey: the options for `navigator.credentials.create`, with a challenge. */
export const POST = ownerHandler(actions.startPasskey, async (call, owner) => {
  const { options, cookie } = await startPasskey(call, owner);
  return { status: 200, body: options, headers: cookieHeaders([cookie]) };
});
