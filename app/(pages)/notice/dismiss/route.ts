import { settings } from "@/lib/config/settings";
import type { SentHeaders } from "@/lib/http/call";
import { dismissNotice } from "@/lib/http/dismissed-notice";
import { redirectTo } from "@/lib/http/form";
import { handleEndpoint } from "@/lib/http/handler";
import { forms } from "@/lib/http/register/forms";
import { pages } from "@/lib/http/register/pages";
import { inPlainText } from "@/lib/http/response";
import { readAnnouncement } from "@/lib/site-banner";

/**
 * Dismisses the notice of a page in this browser, unless another was announced meanwhile, and leads back to the content of
 * the page, where the keyboard continues.
 */
export const { POST } = handleEndpoint(
  forms.dismissNotice,
  { explain: inPlainText },
  async ({ headers, field, nowMs }) => {
    const notice = await readAnnouncement(nowMs);
    const isSeen = notice && ["", notice.id].includes(field("notice"));
    return redirectTo({
      to: `${pageBefore(headers)}#main`,
      cookies: isSeen ? [dismissNotice(notice)] : [],
    });
  },
);

/** Always on this site, whatever `Referer` says. Absolute, because a path that begins with `//` names another site. */
function pageBefore(headers: SentHeaders): string {
  const before = headers.get("referer") ?? "";
  return before.startsWith(`${settings().appUrl}/`) ? before : pages.front.path;
}
