import { settings } from "@/lib/config/settings";
import { changes } from "@/lib/docs/changes";
import { publish } from "@/lib/docs/publication-handler";
import { escapeHtml } from "@/lib/http/escape-html";
import { pages, publications } from "@/lib/http/pages";

/** The changes of the API as a feed (RFC 4287). */
export const GET = publish(publications.changesFeed, () => {
  const { appUrl } = settings();
  const page = `${appUrl}${pages.changes.path}`;
  const entries = changes.map(
    ({ on, version, what }) => `<entry>
<id>${page}#${version}</id>
<title>${version}</title>
<updated>${on}T00:00:00Z</updated>
<link href="${page}#${version}"/>
<content type="text">${escapeHtml(what)}</content>
</entry>`,
  );
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${page}</id>
<title>Changes to the Corner Office API</title>
<updated>${changes[0].on}T00:00:00Z</updated>
<author><name>Corner Office</name></author>
<link href="${page}"/>
<link rel="self" type="application/atom+xml" href="${appUrl}${publications.changesFeed.path}"/>
${entries.join("\n")}
</feed>
`;
  return { type: "application/atom+xml; charset=utf-8", body };
});
