import { signInWithPasskey } from "@/lib/auth/passkey-sign-in";
import { cookieHeaders } from "@/lib/http/cookies";
import { createHandler } from "@/lib/http/handler";
import { actions } from "@/lib/http/pages";
import { pathAfterSignIn } from "@/lib/oauth/approval";

/** The second step of a sign-in by passkey: verifies the browser's assertion. Returns where to go: `{to}`. */
export const POST = createHandler(actions.signInWithPasskey, async (call) => {
  const { to, cookies = [] } = await signInWithPasskey(call);
  const after = await pathAfterSignIn(call.headers, to);
  return { status: 200, body: { to: after }, headers: cookieHeaders(cookies) };
});
