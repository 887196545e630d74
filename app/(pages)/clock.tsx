"use client";

import { useSyncExternalStore } from "react";

const never = () => () => {};

type ClockProps = { atMs: number; shows: "time" | "day and time" };

/** A moment by the reader's own clock; in UTC, and said so, where there is no script to ask it. */
export function Clock({ atMs, shows }: ClockProps) {
  const isReaders = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  const day = shows === "time" ? {} : ({ day: "numeric", month: "long" } as const);
  const words = new Date(atMs).toLocaleString("en-GB", {
    ...day,
    ...{ hour: "2-digit", minute: "2-digit" },
    ...(isReaders ? {} : { timeZone: "UTC" }),
  });
  return (
    <time dateTime={new Date(atMs).toISOString()}>
      {words}
      {!isReaders && " UTC"}
    </time>
  );
}
