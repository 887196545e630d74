import { actions, pages } from "@/lib/api/pages";
import { goTo } from "@/lib/pages/form";
import { hall } from "@/lib/pages/hall";
import { dismissNotice } from "@/lib/pages/notice";
import { settings } from "@/lib/settings/settings";
import { readSiteBanner } from "@/lib/site-banner";

/** Puts the notice that shows now away, in this browser and for this message, and leads back to where it was read. */
export const POST = hall(
  actions.dismissNotice,
  async ({ headers, nowMs }) => {
    const banner = await readSiteBanner(nowMs);
    return goTo({ to: pageBefore(headers), cookies: banner ? [dismissNotice(banner)] : [] });
  },
  { say: ({ status, message }) => ({ status, body: `${message}\n` }) },
);

/** Within this site, whatever `Referer` says; whole, because a path that begins with two slashes names another site. */
function pageBefore(headers: Headers): string {
  const before = headers.get("referer") ?? "";
  return before.startsWith(`${settings().appUrl}/`) ? before : pages.front.path;
}
