import type { Page } from "@/lib/api/pages";
import { escapeHtml } from "@/lib/mail/letter";
import type { SiteBanner } from "@/lib/site-banner";

/** Whether a page shows a notice: a `warning` on every page, a `promo` on those that are not somebody's own. */
export function showsNotice(banner: SiteBanner | null, { access }: Page): banner is SiteBanner {
  return banner !== null && (banner.kind === "warning" || access !== "session");
}

const opening = '<div class="notice">';
const closing = "</div>";

/** Puts a notice, or none, into the place that a page has for it, whatever was there. */
export function putNotice(html: string, banner: SiteBanner | null): string {
  const start = html.indexOf(opening) + opening.length;
  const end = html.indexOf(closing, start);
  const notice = banner
    ? `<aside class="banner" data-kind="${banner.kind}" aria-label="Notice"><p>${escapeHtml(banner.message)}</p></aside>`
    : "";
  return html.slice(0, start) + notice + html.slice(end);
}
