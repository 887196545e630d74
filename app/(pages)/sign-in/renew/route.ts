import { renewBrowserSession } from "@/lib/auth/browser-session";
import { clearSession, writeSession } from "@/lib/auth/local-sign-in";
import type { MintedToken } from "@/lib/auth/session-token";
import { store } from "@/lib/db/store";
import { cookieHeaders, readCookie, sendsCookie } from "@/lib/http/cookies";
import { redirectTo, withProblem } from "@/lib/http/form";
import { createHandler, type HandlerRequest } from "@/lib/http/handler";
import { actions, pages } from "@/lib/http/pages";

/** Renews the session of an open page: 204, or 401 if the session has ended. */
export const POST = createHandler(actions.renewSession, async (call) => {
  const session = await renew(call);
  return session
    ? { status: 204, body: null, headers: cookieHeaders([writeSession(session)]) }
    : { status: 401, body: null, headers: cookieHeaders(clearSession()) };
});

/** Renews the session of a returning browser and redirects it home, or to sign-in if the session has ended. */
export const GET = createHandler(
  actions.renewSession,
  async (call) => {
    const session = await renew(call);
    return session
      ? redirectTo({ to: `${pages.home.path}?renewed`, cookies: [writeSession(session)] })
      : redirectTo({
          to: sendsCookie(call.headers, "office-client")
            ? withProblem(pages.signIn.path, "ended")
            : pages.signIn.path,
          cookies: clearSession(),
        });
  },
  { renderError: () => redirectTo({ to: `${pages.home.path}?away` }) },
);

async function renew({ headers, nowMs }: HandlerRequest): Promise<MintedToken | undefined> {
  const client = readCookie(headers, "office-client");
  return client ? renewBrowserSession(await store(), client, nowMs) : undefined;
}
