import { clearSession, endBrowserSession } from "@/lib/auth/local-sign-in";
import { findOwnSession } from "@/lib/auth/sessions/browser-session";
import { verifyToken } from "@/lib/auth/tokens/verifier";
import { store } from "@/lib/db/store";
import type { Call } from "@/lib/http/call";
import { readCookie } from "@/lib/http/cookies";
import { redirectTo, withProblem, withReference } from "@/lib/http/form";
import { handleEndpoint } from "@/lib/http/handler";
import { signInForms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { inPlainText } from "@/lib/http/response";

/** Ends the browser's sessions and those made in them. If it fails, the cookies stay for another attempt. */
export const signOut = handleEndpoint(
  signInForms.signOut,
  {
    explain: (error, { requestId }) =>
      error.status >= 429
        ? redirectTo({ to: withReference(withProblem(pages.home.path, "sign-out"), requestId) })
        : inPlainText(error),
  },
  async (call) => redirectTo({ to: pages.front.path, cookies: await endOwnSessions(call) }),
);

/** Ends the browser's sessions and those made in them. Returns the `Set-Cookie` values that say so to the browser. */
export async function endOwnSessions({ headers, nowMs }: Pick<Call, "headers" | "nowMs">): Promise<string[]> {
  const [db, token] = [await store(), readCookie(headers, "__session")];
  const own = await findOwnSession(db, headers, nowMs);
  const proved = token ? await verifyToken(token, nowMs) : undefined;
  for (const session of [own, proved]) if (session) await endBrowserSession(db, session.sessionId, nowMs);
  return clearSession();
}
