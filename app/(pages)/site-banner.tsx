import { headers } from "next/headers";
import { showsNotice } from "@/lib/http/notice";
import { actions, pages } from "@/lib/http/pages";
import { readSiteBanner } from "@/lib/site-banner";

/** The banner at the top of pages that Next renders: `promo` on public pages only, `warning` on all. */
export async function SiteBanner({ isPublic }: { isPublic: boolean }) {
  const banner = await readSiteBanner();
  if (!showsNotice(banner, isPublic ? pages.signIn : pages.home, await headers())) return null;
  return (
    <aside className="banner" data-kind={banner.kind} aria-label="Notice">
      <p>{banner.message}</p>
      <form method="post" action={actions.dismissNotice.path}>
        <button type="submit" aria-label="Dismiss this notice" />
      </form>
    </aside>
  );
}
