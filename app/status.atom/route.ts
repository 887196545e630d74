import { store } from "@/lib/db/store";
import { type FeedEntry, writeFeed } from "@/lib/docs/feed";
import { anchorOf } from "@/lib/docs/markdown";
import { publish } from "@/lib/docs/publication-handler";
import { pages } from "@/lib/http/register/pages";
import { publications } from "@/lib/http/register/publications";
import { describeLength, listOutages, maxListed, type Outage } from "@/lib/status/outages";

/**
 * The outages as a feed: an entry when one begins and another one when it has ended, because readers show an entry once.
 * While the store cannot be read there is no feed, and readers keep what they have.
 */
export const { GET, HEAD, OPTIONS } = publish(publications.statusFeed, async () => {
  const outages = await listOutages(await store(), Date.now(), maxListed);
  return writeFeed({
    title: "Status of Corner Office",
    page: pages.status.path,
    self: publications.statusFeed.path,
    updated: "1970-01-01T00:00:00Z",
    entries: outages.flatMap(entriesOf),
  });
});

function entriesOf({ part, started_at_ms, ended_at_ms }: Outage): FeedEntry[] {
  const startedAt = new Date(started_at_ms).toISOString();
  const anchor = `${anchorOf(part)}-${started_at_ms}`;
  const begun = {
    anchor,
    title: `${part}: an outage began`,
    updated: startedAt,
    text: `It began at ${startedAt}.`,
  };
  if (ended_at_ms === null) return [begun];
  const endedAt = new Date(ended_at_ms).toISOString();
  const ended = {
    anchor: `${anchor}-${ended_at_ms}`,
    title: `${part}: works again`,
    updated: endedAt,
    text: `It was out from ${startedAt} to ${endedAt}: ${describeLength(ended_at_ms - started_at_ms)}.`,
  };
  return [begun, ended];
}
