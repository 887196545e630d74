import { settings } from "@/lib/config/settings";
import { changes } from "@/lib/docs/changes";
import { anchorOf } from "@/lib/docs/markdown";
import { publish } from "@/lib/docs/publication-handler";
import { escapeHtml } from "@/lib/http/escape-html";
import { toPlatform } from "@/lib/http/platform";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { listRetirements } from "@/lib/http/retirement";

/** The changes of the API and what is being retired, as a feed (RFC 4287). */
export const { GET, HEAD, OPTIONS } = toPlatform(
  publish(publications.changesFeed, () => {
    const { appUrl } = settings();
    const page = `${appUrl}${pages.changes.path}`;
    const announcements = listRetirements().map(({ what, retirement }) => ({
      anchor: anchorOf(what),
      title: `${what} is being retired`,
      updated: retirement.announcedAt,
      text: `It returns 410 from ${retirement.sunsetAt}. How to migrate: ${appUrl}${retirement.guide}`,
    }));
    const releases = changes.map(({ on, version, what }) => ({
      anchor: version,
      title: version,
      updated: `${on}T00:00:00Z`,
      text: what,
    }));
    const newestFirst = [...announcements, ...releases].sort(
      (one, other) => Date.parse(other.updated) - Date.parse(one.updated),
    );
    const entries = newestFirst.map(
      ({ anchor, title, updated, text }) => `<entry>
<id>${page}#${anchor}</id>
<title>${escapeHtml(title)}</title>
<updated>${updated}</updated>
<link href="${page}#${anchor}"/>
<content type="text">${escapeHtml(text)}</content>
</entry>`,
    );
    const body = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${page}</id>
<title>Changes to the Corner Office API</title>
<updated>${newestFirst[0]?.updated}</updated>
<author><name>Corner Office</name></author>
<link href="${page}"/>
<link rel="self" type="application/atom+xml" href="${appUrl}${publications.changesFeed.path}"/>
${entries.join("\n")}
</feed>
`;
    return { mediaType: "application/atom+xml; charset=utf-8", body };
  }),
);
