"use client";

import { useSyncExternalStore } from "react";
import { type Shows, tellMoment } from "./moment";

const never = () => () => {};

/** Whether the reader's own clock is known: a server has none to ask. */
function useReadersClock(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}

type ClockProps = { atMs: number; shows: Shows };

/** A moment by the reader's own clock; in UTC, and said so, where there is no script to ask it. */
export function Clock({ atMs, shows }: ClockProps) {
  const isReaders = useReadersClock();
  return (
    <time dateTime={new Date(atMs).toISOString()}>
      {isReaders ? tellMoment(atMs, shows) : `${tellMoment(atMs, shows, "UTC")} UTC`}
    </time>
  );
}

/** Whose time that is. */
export function Zone() {
  return useReadersClock()
    ? new Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ")
    : "UTC";
}
