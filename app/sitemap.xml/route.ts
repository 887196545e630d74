import { settings } from "@/lib/config/settings";
import { publish } from "@/lib/docs/publication-handler";
import { type Page, pages, publications } from "@/lib/http/pages";

/** The public pages, for crawlers (sitemaps.org). */
export const GET = publish(publications.sitemap, () => {
  const { appUrl } = settings();
  const listed = Object.values<Page>(pages).filter(({ inSitemap }) => inSitemap);
  const urls = listed.map(({ path }) => `<url><loc>${appUrl}${path}</loc></url>`).join("\n");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}\n</urlset>\n`;
  return { type: "application/xml", body };
});
