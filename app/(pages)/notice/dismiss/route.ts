import { settings } from "@/lib/config/settings";
import { dismissNotice } from "@/lib/http/dismissed-notice";
import { redirectTo } from "@/lib/http/form";
import { createHandler } from "@/lib/http/handler";
import { actions, pages } from "@/lib/http/pages";
import { inPlainText } from "@/lib/http/response";
import { readSiteBanner } from "@/lib/site-banner";

/** Dismisses this notice in this browser, and leads back to the content of its page, where the keyboard continues. */
export const POST = createHandler(
  actions.dismissNotice,
  async ({ headers, nowMs }) => {
    const banner = await readSiteBanner(nowMs);
    return redirectTo({ to: `${pageBefore(headers)}#main`, cookies: banner ? [dismissNotice(banner)] : [] });
  },
  { renderError: inPlainText },
);

/** Always on this site, whatever `Referer` says. Absolute, because a path that begins with `//` names another site. */
function pageBefore(headers: Headers): string {
  const before = headers.get("referer") ?? "";
  return before.startsWith(`${settings().appUrl}/`) ? before : pages.front.path;
}
