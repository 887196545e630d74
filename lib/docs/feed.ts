import { settings } from "@/lib/config/settings";
import type { Publication } from "@/lib/docs/publication-handler";
import { escapeHtml } from "@/lib/http/escape-html";

/** An entry of a feed: its text never changes under one anchor. `updated` as in RFC 3339. */
export type FeedEntry = { anchor: string; title: string; updated: string; text: string };

type Feed = { title: string; page: string; self: string; updated: string; entries: FeedEntry[] };

/** Writes a feed (RFC 4287) of a page, newest entry first; `updated` is that of a feed without entries. */
export function writeFeed({ title, page: path, self, updated, entries }: Feed): Publication {
  const { appUrl } = settings();
  const page = `${appUrl}${path}`;
  const sorted = newestFirst(entries);
  const written = sorted.map(
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
<title>${escapeHtml(title)}</title>
<updated>${sorted[0]?.updated ?? updated}</updated>
<author><name>Corner Office</name></author>
<link href="${page}"/>
<link rel="self" type="application/atom+xml" href="${appUrl}${self}"/>
${written.join("\n")}
</feed>
`;
  return { mediaType: "application/atom+xml; charset=utf-8", body };
}

/** The entries, the newest first, each in a second of its own: Slack shows none that has the time of another. */
function newestFirst(entries: readonly FeedEntry[]): FeedEntry[] {
  let lastSecond = Number.NEGATIVE_INFINITY;
  const orderOf = ({ updated, anchor }: FeedEntry) => `${new Date(updated).toISOString()} ${anchor}`;
  return entries
    .toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
    .map((entry) => {
      const second = Math.floor(Date.parse(entry.updated) / 1000);
      const isFree = second > lastSecond;
      lastSecond = Math.max(second, lastSecond + 1);
      return isFree ? entry : { ...entry, updated: new Date(lastSecond * 1000).toISOString() };
    })
    .toReversed();
}
