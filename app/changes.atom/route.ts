import { settings } from "@/lib/config/settings";
import { changes } from "@/lib/docs/changes";
import { writeFeed } from "@/lib/docs/feed";
import { anchorOf } from "@/lib/docs/markdown";
import { publish } from "@/lib/docs/publication-handler";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { listRetirements } from "@/lib/http/retirement";

/** The changes of the API and what is being retired, as a feed. */
export const { GET, HEAD, OPTIONS } = publish(publications.changesFeed, () => {
  const announcements = listRetirements().map(({ what, retirement }) => ({
    anchor: anchorOf(what),
    title: `${what} is being retired`,
    updated: retirement.announcedAt,
    text: `It returns 410 from ${retirement.sunsetAt}. How to migrate: ${settings().appUrl}${retirement.guide}`,
  }));
  const releases = changes.map(({ on, version, what }) => ({
    anchor: version,
    title: version,
    updated: `${on}T00:00:00Z`,
    text: what,
  }));
  return writeFeed({
    title: "Changes to the Corner Office API",
    page: pages.changes.path,
    self: publications.changesFeed.path,
    updated: "1970-01-01T00:00:00Z", // there is always a release
    entries: [...announcements, ...releases],
  });
});
