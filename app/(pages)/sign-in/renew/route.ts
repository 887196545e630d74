import { renewBrowserSession } from "@/lib/auth/browser-session";
import { clearSession, writeSession } from "@/lib/auth/local-sign-in";
import type { MintedToken } from "@/lib/auth/session-token";
import { settings } from "@/lib/config/settings";
import { store } from "@/lib/db/store";
import { cookieHeaders, readCookie, sendsCookie } from "@/lib/http/cookies";
import { redirectTo, withProblem } from "@/lib/http/form";
import { createHandler, type HandlerRequest } from "@/lib/http/handler";
import { actions, ownerPages, pages } from "@/lib/http/pages";

/** Renews the session of an open page: 204, or 401 if the session has ended. */
export const POST = createHandler(actions.renewSession, async (call) => {
  const session = await renew(call);
  return session
    ? { status: 204, body: null, headers: cookieHeaders([writeSession(session)]) }
    : { status: 401, body: null, headers: cookieHeaders(clearSession()) };
});

/**
 * Renews the session of a returning browser and redirects it to the page it has opened, or to sign-in if the session has
 * ended.
 */
export const GET = createHandler(
  actions.renewSession,
  async (call) => {
    const session = await renew(call);
    return session
      ? redirectTo({ to: openedPage(call, "renewed"), cookies: [writeSession(session)] })
      : redirectTo({
          to: sendsCookie(call.headers, "office-client")
            ? withProblem(pages.signIn.path, "ended")
            : pages.signIn.path,
          cookies: clearSession(),
        });
  },
  { renderError: (_, call) => redirectTo({ to: openedPage(call, "away") }) },
);

async function renew({ headers, nowMs }: HandlerRequest): Promise<MintedToken | undefined> {
  const client = readCookie(headers, "office-client");
  return client ? renewBrowserSession(await store(), client, nowMs) : undefined;
}

/** The owner's page that the browser has opened, or home, with a word in its query. */
function openedPage({ url }: HandlerRequest, word: string): string {
  const to = `${settings().appUrl}${url.searchParams.get("to")}`;
  const { pathname, search } = new URL(URL.canParse(to) ? to : settings().appUrl);
  const isOwners = Object.values(ownerPages).some(({ path }) => path === pathname);
  return isOwners ? `${pathname}${search ? `${search}&` : "?"}${word}` : `${pages.home.path}?${word}`;
}
