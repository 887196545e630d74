import { createHash } from "node:crypto";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { escapeHtml } from "@/lib/http/escape-html";
import { actions, type Page, pages } from "@/lib/http/pages";
import type { SiteBanner } from "@/lib/http/schemas";

export const dismissedSeconds = 90 * 24 * 60 * 60; // 90 days; a new message is shown at once

/** Whether a page shows a notice: a `warning` on every page, a `promo` on public ones, unless it was dismissed. */
export function showsNotice(
  banner: SiteBanner | null,
  { access, path }: Pick<Page, "access" | "path">,
  headers: Pick<Headers, "get">,
): banner is SiteBanner {
  if (banner === null) return false;
  const dismissed = readCookie(headers, "office-notice");
  if (dismissed !== undefined && dismissed === nameOf(banner)) return false;
  return banner.kind === "warning" || (access !== "session" && path !== pages.unsubscribe.path);
}

/** The `Set-Cookie` that records that this notice was dismissed. */
export function dismissNotice(banner: SiteBanner): string {
  return writeCookie("office-notice", nameOf(banner), dismissedSeconds);
}

function nameOf({ kind, message }: SiteBanner): string {
  return createHash("sha256").update(`${kind}\n${message}`).digest("base64url").slice(0, 16);
}

const opening = '<div class="notice">';
const closing = "</div>";

/** Replaces the notice in a page; `null` removes it. */
export function insertNotice(html: string, banner: SiteBanner | null, page: Pick<Page, "path">): string {
  const start = html.indexOf(opening) + opening.length;
  const end = html.indexOf(closing, start);
  return html.slice(0, start) + (banner ? renderHtml(banner, page) : "") + html.slice(end);
}

function renderHtml({ kind, message }: SiteBanner, page: Pick<Page, "path">): string {
  // `/unsubscribe` sends no referrer, so its browser cannot prove the origin of the form.
  const button =
    page.path === pages.unsubscribe.path
      ? ""
      : `<form method="post" action="${actions.dismissNotice.path}"><button type="submit" class="linklike" aria-label="Dismiss this notice">×</button></form>`;
  return `<aside class="banner" data-kind="${kind}" aria-label="Notice"><p>${escapeHtml(message)}</p>${button}</aside>`;
}
