import { signOut } from "@/lib/auth/browser-session";
import { clearSession } from "@/lib/auth/local-sign-in";
import { verifyToken } from "@/lib/auth/verifier";
import { store } from "@/lib/db/store";
import { readCookie } from "@/lib/http/cookies";
import { redirectTo, withProblem } from "@/lib/http/form";
import { createHandler } from "@/lib/http/handler";
import { actions, pages } from "@/lib/http/pages";

/**
 * Signs out: ends the sessions that the browser's cookies prove, and those that were made in them. If it fails, the
 * browser keeps its cookies, because they are needed for another attempt.
 */
export const POST = createHandler(
  actions.signOut,
  async ({ headers, nowMs }) => {
    const [secret, token] = [readCookie(headers, "office-client"), readCookie(headers, "__session")];
    const sessionId = token && (await verifyToken(token, nowMs))?.sessionId;
    if (secret || sessionId) await signOut(await store(), { secret, sessionId }, nowMs);
    return redirectTo({ to: pages.front.path, cookies: clearSession() });
  },
  {
    renderError: ({ status, message }) =>
      status >= 429
        ? redirectTo({ to: withProblem(pages.home.path, "sign-out") })
        : { status, body: `${message}\n` },
  },
);
