export type Shows = "time" | "day and time" | "date";

/** Formats a time in this machine's time zone, or in `timeZone`. Every page uses this format. */
export function tellMoment(atMs: number, shows: Shows, timeZone?: "UTC"): string {
  const day = { day: "numeric", month: "long" } as const;
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  return new Date(atMs).toLocaleString("en-GB", {
    ...(shows === "time" ? time : shows === "date" ? { ...day, year: "numeric" } : { ...day, ...time }),
    ...(timeZone && { timeZone }),
  });
}
