import { settings } from "@/lib/config/settings";
import { publish } from "@/lib/docs/publication-handler";
import { type Page, pages, publications } from "@/lib/http/pages";

/** Crawlers may read every public page; pages that belong to one person are disallowed. */
export const GET = publish(publications.robots, () => {
  const closed = Object.values<Page>(pages).filter(({ isCrawled }) => !isCrawled);
  const lines = [
    "User-agent: *",
    ...closed.map(({ path }) => `Disallow: ${path}`),
    "",
    `Sitemap: ${settings().appUrl}${publications.sitemap.path}`,
    "",
  ];
  return { type: "text/plain; charset=utf-8", body: lines.join("\n") };
});
