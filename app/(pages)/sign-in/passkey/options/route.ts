import { askForPasskey } from "@/lib/auth/passkey-sign-in";
import { cookieHeaders } from "@/lib/http/cookies";
import { createHandler } from "@/lib/http/handler";
import { actions } from "@/lib/http/pages";

/** The first step of a sign-in by passkey: the options for `navigator.credentials.get`, with a challenge. */
export const POST = createHandler(actions.askForPasskey, (call) => {
  const { options, cookie } = askForPasskey(call);
  return { status: 200, body: options, headers: cookieHeaders([cookie]) };
});
