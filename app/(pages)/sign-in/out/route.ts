import { endBrowserSession, signOut } from "@/lib/auth/browser-session";
import { clearSession } from "@/lib/auth/local-sign-in";
import { endSession } from "@/lib/auth/session";
import { verifyToken } from "@/lib/auth/verifier";
import { store } from "@/lib/db/store";
import { readCookies } from "@/lib/http/cookies";
import { redirectTo, withProblem } from "@/lib/http/form";
import { createHandler } from "@/lib/http/page-handler";
import { actions, pages } from "@/lib/http/pages";

/**
 * Signs out: ends every session that the browser proves, by whichever cookie and however many of a name, and with it
 * what was made in it. It counts towards no allowance. Where it cannot be done the browser keeps its cookies, because
 * only with them can it be tried again.
 */
export const POST = createHandler(
  actions.signOut,
  async ({ headers, nowMs }) => {
    const db = await store();
    for (const secret of readCookies(headers, "office-client")) await endBrowserSession(db, secret, nowMs);
    for (const token of readCookies(headers, "__session")) {
      const proof = await verifyToken(token, nowMs);
      if (proof) await endSession(db, signOut, proof.sessionId, nowMs);
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
