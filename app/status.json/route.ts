import { asIso } from "@/lib/config/instants";
import { publish } from "@/lib/docs/publication-handler";
import { publications } from "@/lib/http/register/publications";
import { readSiteBanner } from "@/lib/site-banner";
import { maxListed } from "@/lib/status/outages";
import { readStatus } from "@/lib/status/parts";
import { version } from "@/package.json";

const states = { good: "works", soon: "degraded", stopped: "down", unknown: "unknown" } as const;

/**
 * What the status page shows, as data: `outages` is `null` while the store cannot be read. And the release, for who operates
 * it.
 */
export const { GET, HEAD, OPTIONS } = publish(publications.statusData, async () => {
  const nowMs = Date.now();
  const [{ parts, outages }, notice] = await Promise.all([readStatus(nowMs), readSiteBanner(nowMs)]);
  const body = {
    checkedAt: asIso(nowMs),
    parts: parts.map(({ name, colour, says }) => ({ name, state: states[colour], says })),
    outages:
      outages?.slice(0, maxListed).map(({ part, started_at_ms, ended_at_ms }) => ({
        part,
        startedAt: asIso(started_at_ms),
        endedAt: asIso(ended_at_ms),
      })) ?? null,
    notice: notice?.message ?? null,
    version,
  };
  return { body };
});
