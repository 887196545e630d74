import { describe, expect, it } from "vitest";
import { dayMs } from "@/lib/config/durations";
import { describeLength, sumByDay } from "@/lib/status/outages";

const hourMs = dayMs / 24;
const nowMs = Date.parse("2026-11-28T12:00:00Z");
const outage = (part: string, start: string, end: string | null) => ({
  part,
  started_at_ms: Date.parse(start),
  ended_at_ms: end === null ? null : Date.parse(end),
});
/** The days with an outage, today as 1, each with its hours. */
const daysOf = (...outages: ReturnType<typeof outage>[]) =>
  sumByDay(outages, "Mail", nowMs).flatMap((ms, at) => (ms > 0 ? [[90 - at, ms / hourMs]] : []));

describe("the days of a part", () => {
  it("are 90, today last, without what happened to other parts", () => {
    expect(sumByDay([], "Mail", nowMs)).toEqual(Array.from({ length: 90 }, () => 0));
    const twice = [
      outage("Mail", "2026-11-28T01:00:00Z", "2026-11-28T02:00:00Z"),
      outage("Mail", "2026-11-28T03:00:00Z", "2026-11-28T03:30:00Z"),
      outage("MCP server", "2026-11-28T01:00:00Z", "2026-11-28T02:00:00Z"),
    ];
    expect(daysOf(...twice)).toEqual([[1, 1.5]]);
  });

  it("share an outage across midnight, and have one that goes on until now", () => {
    expect(daysOf(outage("Mail", "2026-11-25T23:00:00Z", "2026-11-27T02:00:00Z"))).toEqual([
      [4, 1],
      [3, 24],
      [2, 2],
    ]);
    expect(daysOf(outage("Mail", "2026-11-28T09:00:00Z", null))).toEqual([[1, 3]]);
  });

  it("have one that was seen once, and not what ended before the first", () => {
    expect(daysOf(outage("Mail", "2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"))).toEqual([[9, 1 / hourMs]]);
    expect(daysOf(outage("Mail", "2026-08-30T10:00:00Z", "2026-08-30T11:00:00Z"))).toEqual([]);
    expect(daysOf(outage("Mail", "2026-08-30T23:00:00Z", "2026-08-31T01:00:00Z"))).toEqual([[90, 1]]);
  });

  it("begin at midnight: what begins then is of that day alone, and what was last seen then of both", () => {
    expect(daysOf(outage("Mail", "2026-11-28T00:00:00Z", "2026-11-28T01:00:00Z"))).toEqual([[1, 1]]);
    expect(daysOf(outage("Mail", "2026-11-27T23:00:00Z", "2026-11-28T00:00:00Z"))).toEqual([
      [2, 1],
      [1, 1 / hourMs],
    ]);
  });
});

it.each([
  [59_999, "under a minute"],
  [60_000, "1 minute"],
  [3 * hourMs, "3 hours"],
])("an outage of %i ms is said to be of %s", (ms, words) => {
  expect(describeLength(ms)).toBe(words);
});
