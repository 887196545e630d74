import { settings } from "@/lib/config/settings";
import { redirectTo } from "@/lib/http/form";
import { dismissNotice } from "@/lib/http/notice";
import { createHandler } from "@/lib/http/page-handler";
import { actions, pages } from "@/lib/http/pages";
import { readSiteBanner } from "@/lib/site-banner";

/** Puts the notice that shows now away, in this browser and for this message, and leads back to where it was read. */
export const POST = createHandler(
  actions.dismissNotice,
  async ({ headers, nowMs }) => {
    const banner = await readSiteBanner(nowMs);
    return redirectTo({ to: pageBefore(headers), cookies: banner ? [dismissNotice(banner)] : [] });
  },
  { renderError: ({ status, message }) => ({ status, body: `${message}\n` }) },
);

/** Within this site, whatever `Referer` says; whole, because a path that begins with two slashes names another site. */
function pageBefore(headers: Headers): string {
  const before = headers.get("referer") ?? "";
  return before.startsWith(`${settings().appUrl}/`) ? before : pages.front.path;
}
