export type Shows = "time" | "day and time";

/** Formats a time in this machine's time zone, or in `timeZone`. Every page uses this format. */
export function tellMoment(atMs: number, shows: Shows, timeZone?: "UTC"): string {
  const day = shows === "time" ? {} : ({ day: "numeric", month: "long" } as const);
  return new Date(atMs).toLocaleString("en-GB", {
    ...day,
    hour: "2-digit",
    minute: "2-digit",
    ...(timeZone && { timeZone }),
  });
}
