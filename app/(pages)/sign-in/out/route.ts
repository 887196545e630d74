import { endBrowserSession, signOut } from "@/lib/auth/browser-session";
import { clearSession } from "@/lib/auth/local-sign-in";
import { endSession } from "@/lib/auth/session";
import { verifyToken } from "@/lib/auth/verifier";
import { store } from "@/lib/db/store";
import { readCookies } from "@/lib/http/cookies";
import { redirectTo, withProblem } from "@/lib/http/form";
import { createHandler } from "@/lib/http/handler";
import { actions, pages } from "@/lib/http/pages";

/**
 * Signs out: ends every session that the browser's cookies prove, also with several cookies of one name, and the
 * sessions that were made in them. It has no rate limit. If it fails, the browser keeps its cookies, because they are
 * needed for another attempt.
 */
export const POST = createHandler(
  actions.signOut,
  async ({ headers, nowMs }) => {
    const db = await store();
    for (const secret of readCookies(headers, "office-client")) await endBrowserSession(db, secret, nowMs);
    for (const token of readCookies(headers, "__session")) {
      const verified = await verifyToken(token, nowMs);
      if (verified) await endSession(db, signOut, verified.sessionId, nowMs);
    }
    return redirectTo({ to: pages.front.path, cookies: clearSession() });
  },
  {
    renderError: ({ status, message }) =>
      status >= 500
        ? redirectTo({ to: withProblem(pages.home.path, "sign-out") })
        : { status, body: `${message}\n` },
  },
);
