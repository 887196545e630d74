import { createHash } from "node:crypto";
import { readCookie, writeCookie } from "@/lib/http/cookies";
import { type Page, pages } from "@/lib/http/pages";
import type { SiteBanner } from "@/lib/http/schemas";

export const dismissedSeconds = 90 * 24 * 60 * 60; // 90 days; a new message is shown at once

/** Whether a page shows a notice: a `warning` on every page, a `promo` on public ones, unless it was dismissed. */
export function showsNotice(
  banner: SiteBanner | null,
  { access, path }: Pick<Page, "access" | "path">,
  headers: Pick<Headers, "get">,
): banner is SiteBanner {
  if (banner === null || readCookie(headers, "office-notice") === nameOf(banner)) return false;
  return banner.kind === "warning" || (access !== "session" && path !== pages.unsubscribe.path);
}

/** The `Set-Cookie` that records that this notice was dismissed. */
export function dismissNotice(banner: SiteBanner): string {
  return writeCookie("office-notice", nameOf(banner), dismissedSeconds);
}

function nameOf({ kind, message }: SiteBanner): string {
  return createHash("sha256").update(`${kind}\n${message}`).digest("base64url").slice(0, 16);
}
