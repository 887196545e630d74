import { settings } from "@/lib/config/settings";
import { plainText, publish } from "@/lib/docs/publication-handler";
import { type Page, pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";

/** Crawlers may read every public page; pages that belong to one person are disallowed. */
export const { GET, HEAD, OPTIONS } = publish(publications.robots, () => {
  const closed = Object.values<Page>(pages).filter(({ isCrawled }) => !isCrawled);
  const disallowed = closed.map(({ path }) => `Disallow: ${path}`);
  const sitemap = `Sitemap: ${settings().appUrl}${publications.sitemap.path}`;
  return plainText(["User-agent: *", ...disallowed, "", sitemap, ""]);
});
