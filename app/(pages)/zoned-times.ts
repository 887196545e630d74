import { aheadOfUtc } from "@/lib/config/time-zone";
import { formatInstant, type Shows } from "./instant";

const moment = /(<time dateTime="([^"]+)" data-shows="([^"]+)">)[^<]*/g;

/** A page whose times are shown in a zone, which it names: what its script does where one runs. */
export function inZone(page: string, zone: string): string {
  if (aheadOfUtc(zone, 0) === undefined) return page;
  const shown = page.replace(moment, (_, tag: string, at: string, shows: Shows) => {
    const atMs = Date.parse(at);
    return tag + formatInstant(atMs + (aheadOfUtc(zone, atMs) ?? 0), shows, "UTC");
  });
  return shown.replace('data-time-zone="">', `data-time-zone=""> (${zone.replaceAll("_", " ")})`);
}
