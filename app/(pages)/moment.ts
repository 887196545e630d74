export type Shows = "time" | "day and time";

/** The one way in which moments are told: by this machine's clock, or another's. */
export function tellMoment(atMs: number, shows: Shows, timeZone?: "UTC"): string {
  const day = shows === "time" ? {} : ({ day: "numeric", month: "long" } as const);
  return new Date(atMs).toLocaleString("en-GB", {
    ...day,
    hour: "2-digit",
    minute: "2-digit",
    ...(timeZone && { timeZone }),
  });
}
