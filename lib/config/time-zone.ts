/* Time zones by their names in the IANA database, as browsers and Node's own copy of it know them. */

const isName = /^[A-Za-z][\w+/-]{2,63}$/;

/**
 * The canonical name of a zone, `Europe/Berlin` for `europe/berlin`; `undefined` for what is none, such as the `Etc/Unknown` of
 * a browser that cannot tell, and for a bare offset, which knows no summer time.
 */
export function parseTimeZone(text: string): string | undefined {
  if (!isName.test(text)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Each zone that can be chosen. */
export const timeZones = (): string[] => ["UTC", ...Intl.supportedValuesOf("timeZone")];

/**
 * How far a zone's clocks are ahead of UTC at an instant, in milliseconds; `undefined` without a zone, and for one that only
 * another version of Node knows.
 */
export function aheadOfUtc(zone: string | null | undefined, atMs: number): number | undefined {
  const shown = zone && formatOf(zone)?.clock.format(atMs);
  const [day = 0, month = 0, year = 0, ...time] = shown ? shown.split(/\D+/).map(Number) : [];
  const [hour, minute, second] = time;
  if (!shown) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000;
}

/** What a zone's time is called at an instant, for example "Central European Summer Time". */
export function nameOfTime(zone: string, atMs: number): string {
  const parts = formatOf(zone)?.name.formatToParts(atMs) ?? [];
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "UTC";
}

type Formats = Record<"clock" | "name", Intl.DateTimeFormat>;

const formats = new Map<string, Formats>(); // of the names that are kept: a few hundred at most, 13 MB

function formatOf(zone: string): Formats | undefined {
  const known = formats.get(zone);
  if (known) return known;
  const timeZone = parseTimeZone(zone);
  if (!timeZone) return undefined;
  const clock = { dateStyle: "short", timeStyle: "medium", hourCycle: "h23", timeZone } as const;
  const made = {
    clock: new Intl.DateTimeFormat("en-GB", clock),
    name: new Intl.DateTimeFormat("en-GB", { timeZone, timeZoneName: "long" }),
  };
  formats.set(zone, made);
  return made;
}
