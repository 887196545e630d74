import { readSiteBanner } from "@/lib/site-banner";

/** The notice at the top of a page: a `promo` on public pages only, a `warning` everywhere. */
export async function SiteBanner({ isPublic }: { isPublic: boolean }) {
  const banner = await readSiteBanner();
  if (!banner || (banner.kind === "promo" && !isPublic)) return null;
  return (
    <aside className="banner" data-kind={banner.kind} aria-label="Notice">
      <p>{banner.message}</p>
    </aside>
  );
}
