import { readCookies } from "@/lib/api/cookies";
import { actions, pages } from "@/lib/api/pages";
import { goTo, withProblem } from "@/lib/pages/form";
import { hall } from "@/lib/pages/hall";
import { endBrowserSession, signOut } from "@/lib/session/browser-session";
import { verifyToken } from "@/lib/session/issuer";
import { endSession } from "@/lib/session/session";
import { dropSession } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

/**
 * Signs out: ends every session that the browser proves, by whichever cookie and however many of a name, and with it
 * what was made in it. It counts towards no allowance. Where it cannot be done the browser keeps its cookies, because
 * only with them can it be tried again.
 */
export const POST = hall(
  actions.signOut,
  async ({ headers, nowMs }) => {
    const db = await store();
    for (const secret of readCookies(headers, "office-client")) await endBrowserSession(db, secret, nowMs);
    for (const token of readCookies(headers, "__session")) {
      const proof = await verifyToken(token, nowMs);
      if (proof) await endSession(db, signOut, proof.sessionId, nowMs);
    }
    return goTo({ to: pages.front.path, cookies: dropSession() });
  },
  {
    say: ({ status, message }) =>
      status >= 500
        ? goTo({ to: withProblem(pages.home.path, "sign-out") })
        : { status, body: `${message}\n` },
  },
);
