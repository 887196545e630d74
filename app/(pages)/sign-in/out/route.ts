import { actions, pages } from "@/lib/api/pages";
import { form } from "@/lib/pages/form";
import { endBrowserSession } from "@/lib/session/session";
import { dropSession } from "@/lib/sign-in/local-sign-in";
import { store } from "@/lib/store/store";

/** Signs out: ends the renewal, and with it every token of the session. */
export const POST = form(
  actions.signOut,
  () => pages.home.path,
  async ({ cookie }) => {
    const client = cookie("office-client");
    if (client) await endBrowserSession(await store(), client);
    return { to: pages.front.path, cookies: dropSession() };
  },
);
