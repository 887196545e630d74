import { hasSessionCookie, readCookie, writeCookie } from "@/lib/http/cookies";
import type { SiteBanner } from "@/lib/http/register/operations";
import { type Page, pages } from "@/lib/http/register/pages";

export const dismissedSeconds = 90 * 24 * 60 * 60; // 90 days; a new announcement is shown at once

type Announced = Pick<SiteBanner, "kind"> & { id: string };

/** Whether a page shows a notice: a `warning` on every page, a `promo` on public ones, unless it was dismissed. */
export function showsNotice<Notice extends Announced>(
  notice: Notice | null,
  { access, path }: Pick<Page, "access" | "path">,
  headers: Pick<Headers, "get">,
): notice is Notice {
  if (notice === null || readCookie(headers, "office-notice") === notice.id) return false;
  if (notice.kind === "warning") return true;
  // An owner who approves an app is at work.
  const isOwners = access === "session" || (path === pages.connect.path && hasSessionCookie(headers));
  return !isOwners && path !== pages.unsubscribe.path;
}

/** The `Set-Cookie` that records that this notice was dismissed. */
export function dismissNotice({ id }: Announced): string {
  return writeCookie("office-notice", id, dismissedSeconds);
}
