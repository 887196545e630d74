export type Shows = "time" | "day and time" | "date";

const day = { day: "numeric", month: "long" } as const;
const time = { hour: "2-digit", minute: "2-digit" } as const;
const parts = { time, "day and time": { ...day, ...time }, date: { ...day, year: "numeric" } } as const;

/** Kept, because to make one takes longer than everything else about a time. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats a time in this machine's time zone, or in `timeZone`. Every page uses this format. */
export function tellMoment(atMs: number, shows: Shows, timeZone?: "UTC"): string {
  const key = `${shows} ${timeZone}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", { ...parts[shows], ...(timeZone && { timeZone }) });
    formats.set(key, format);
  }
  return format.format(atMs);
}
