import { formatInstant, type Shows } from "./instant";

/** A time in UTC, and marked as UTC, until the page's script shows it in the reader's time zone. */
export function Clock({ atMs, shows }: { atMs: number; shows: Shows }) {
  return (
    <time dateTime={new Date(atMs).toISOString()} data-shows={shows}>
      {formatInstant(atMs, shows, "UTC")} UTC
    </time>
  );
}
