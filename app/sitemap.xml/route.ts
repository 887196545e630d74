import { documents } from "@/lib/docs/documents";
import { publish } from "@/lib/docs/publish";
import { settings } from "@/lib/settings/settings";

/** The public pages, for crawlers (sitemaps.org). */
export function GET(request: Request): Response {
  const { appUrl } = settings();
  const paths = ["/", "/waitlist", ...documents.map(({ path }) => path)];
  const urls = paths.map((path) => `<url><loc>${appUrl}${path}</loc></url>`).join("\n");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}\n</urlset>\n`;
  return publish(request, { type: "application/xml", body });
}
