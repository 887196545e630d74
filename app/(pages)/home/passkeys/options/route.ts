import { startPasskey } from "@/lib/accounts/own-passkeys";
import { cookieHeaders } from "@/lib/http/cookies";
import { readFields } from "@/lib/http/form";
import { createHandler } from "@/lib/http/handler";
import { actions } from "@/lib/http/pages";

/** The first step of adding a passkey: the options for `navigator.credentials.create`, with a challenge. */
export const POST = createHandler(actions.startPasskey, async (call) => {
  const { options, cookie } = await startPasskey(call, readFields(call)("account"));
  return { status: 200, body: options, headers: cookieHeaders([cookie]) };
});
