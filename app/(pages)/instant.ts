export type Shows = "time" | "day" | "day and time" | "date";

const months = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** For example `25 November at 20:27`, here or in UTC. `Intl` took longer for hundreds of times than all the rest. */
export function formatInstant(atMs: number, shows: Shows, timeZone?: "UTC"): string {
  const offsetMs = timeZone ? 0 : new Date(atMs).getTimezoneOffset() * 60_000;
  const iso = new Date(atMs - offsetMs).toISOString();
  const time = iso.slice(11, 16);
  if (shows === "time") return time;
  const date = `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1]}`;
  if (shows === "day") return date;
  return shows === "date" ? `${date} ${iso.slice(0, 4)}` : `${date} at ${time}`;
}
