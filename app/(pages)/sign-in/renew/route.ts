import { readCookie, readCookies } from "@/lib/api/cookies";
import { refusal } from "@/lib/api/headers";
import { actions, pages } from "@/lib/api/pages";
import { goTo, withProblem } from "@/lib/pages/form";
import { type Call, cookieHeaders, hall } from "@/lib/pages/hall";
import { renewBrowserSession } from "@/lib/session/browser-session";
import type { MintedToken } from "@/lib/session/session-token";
import { dropSession, writeSession } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

/** Renews the session of an open page: 204, or 401 when it is over. */
export const POST = hall(
  actions.renewSession,
  async (call) => {
    const session = await renew(call);
    return session
      ? { status: 204, body: null, headers: cookieHeaders([writeSession(session)]) }
      : { status: 401, body: null, headers: cookieHeaders(dropSession()) };
  },
  { say: (error) => refusal(error) },
);

/** Renews the session of a browser that comes back home, and sends it there; or to sign in. */
export const GET = hall(
  actions.renewSession,
  async (call) => {
    const session = await renew(call);
    return session
      ? goTo({ to: `${pages.home.path}?renewed`, cookies: [writeSession(session)] })
      : goTo({
          to: isHeld(call) ? withProblem(pages.signIn.path, "ended") : pages.signIn.path,
          cookies: dropSession(),
        });
  },
  { say: () => goTo({ to: `${pages.home.path}?away` }) },
);

/** Whether somebody was signed in here. */
function isHeld({ headers }: Call): boolean {
  return readCookies(headers, "office-client").length > 0;
}

async function renew({ headers, nowMs }: Call): Promise<MintedToken | undefined> {
  const client = readCookie(headers, "office-client");
  return client ? renewBrowserSession(await store(), client, nowMs) : undefined;
}
