import { settings } from "@/lib/config/settings";
import { publish } from "@/lib/docs/publication-handler";
import { type Page, pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";

/** The public pages, for crawlers (sitemaps.org). */
export const { GET, HEAD, OPTIONS } = publish(publications.sitemap, () => {
  const listed = Object.values<Page>(pages).filter(({ inSitemap }) => inSitemap);
  const urls = listed.map(({ path }) => `<url><loc>${settings().appUrl}${path}</loc></url>`).join("\n");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}\n</urlset>\n`;
  return { mediaType: "application/xml", body };
});
