"use client";

import { useSyncExternalStore } from "react";
import { type Shows, tellMoment } from "./moment";

const never = () => () => {};

/** Whether this renders in the browser: the server does not know the reader's time zone. */
function useReadersClock(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}

type ClockProps = { atMs: number; shows: Shows };

/** A time in the reader's time zone; without JavaScript, in UTC and marked as UTC. */
export function Clock({ atMs, shows }: ClockProps) {
  const isReaders = useReadersClock();
  return (
    <time dateTime={new Date(atMs).toISOString()}>
      {isReaders ? tellMoment(atMs, shows) : `${tellMoment(atMs, shows, "UTC")} UTC`}
    </time>
  );
}

/** Names the reader's time zone, in parentheses. Times of the server name theirs themselves. */
export function Zone() {
  return (
    useReadersClock() && ` (${new Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ")})`
  );
}
