import { units } from "@/lib/config/durations";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** Unix milliseconds as ISO 8601; `null` without a time, and the number itself where no date has it. */
export function asIso(atMs: number | null | undefined): string | null {
  if (atMs == null) return null;
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? String(atMs) : date.toISOString();
}

/** Formats a time in Unix milliseconds for people, with its distance from now; `null` without a time. */
export function asInstant(atMs: number | null | undefined, nowMs: number): string | null {
  return atMs == null ? null : `${asIso(atMs)} (${describeDistance(atMs, nowMs)})`;
}

/** For example `in 3 days`, `1 minute ago` or `now`. */
export function describeDistance(atMs: number, nowMs: number): string {
  const distanceSeconds = (atMs - nowMs) / 1000;
  const [unit, seconds] = units.slice(0, 3).find(([, seconds]) => Math.abs(distanceSeconds) >= seconds) ?? [];
  return unit ? relative.format(Math.round(distanceSeconds / seconds), unit) : "now";
}

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/** For example `31 Jan 2027`, in UTC. */
export const dayInWords = (atMs: number): string => day.format(atMs);

/** For example `31 Jan 2027, 09:05 UTC`. */
export const minuteInWords = (atMs: number): string =>
  `${day.format(atMs)}, ${new Date(atMs).toISOString().slice(11, 16)} UTC`;

/** In UTC to the minute, as a browser's `datetime-local` field has it; empty without one. */
export function toMinute(atMs: number | null | undefined): string {
  return atMs == null ? "" : new Date(atMs).toISOString().slice(0, 16);
}
