import { dayMs } from "@/lib/config/durations";
import { type Outage, outageDays } from "@/lib/status/outages";

/** How long a part was out on each of the last 90 days in UTC, in milliseconds, today last. One that goes on counts until now. */
export function sumByDay(outages: readonly Outage[], part: string, nowMs: number): number[] {
  const tomorrowMs = (Math.floor(nowMs / dayMs) + 1) * dayMs;
  return Array.from({ length: outageDays }, (_, at) => {
    const fromMs = tomorrowMs - (outageDays - at) * dayMs;
    return outages
      .filter((outage) => outage.part === part)
      .map(({ started_at_ms, ended_at_ms }) => {
        const lastMs = Math.min(ended_at_ms ?? nowMs, fromMs + dayMs);
        // One that was seen once has no length, and counts all the same.
        const isOn = started_at_ms < fromMs + dayMs && (ended_at_ms ?? nowMs) >= fromMs;
        return isOn ? Math.max(1, lastMs - Math.max(started_at_ms, fromMs)) : 0;
      })
      .reduce((sum, ms) => sum + ms, 0);
  });
}
