"use client";

import { useSyncExternalStore } from "react";

const never = () => () => {};

/** Whether the reader's own clock is known: a server has none to ask. */
function useReadersClock(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}

type Shows = "time" | "day and time";

/** The one way in which moments are told: by this machine's clock, or another's. */
export function tellMoment(atMs: number, shows: Shows, timeZone?: "UTC"): string {
  const day = shows === "time" ? {} : ({ day: "numeric", month: "long" } as const);
  return new Date(atMs).toLocaleString("en-GB", {
    ...day,
    ...{ hour: "2-digit", minute: "2-digit" },
    ...(timeZone && { timeZone }),
  });
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
