import { publish } from "@/lib/docs/publish";
import { settings } from "@/lib/settings/settings";

/** Everything public may be read; what belongs to one person has nothing for a crawler. */
export function GET(request: Request): Response {
  const closed = ["/home", "/invitation", "/unsubscribe", "/docs/search"];
  const body = `User-agent: *\n${closed.map((path) => `Disallow: ${path}\n`).join("")}\nSitemap: ${settings().appUrl}/sitemap.xml\n`;
  return publish(request, { type: "text/plain; charset=utf-8", body });
}
