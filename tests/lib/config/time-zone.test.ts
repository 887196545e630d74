import { describe, expect, it } from "vitest";
import { aheadOfUtc, nameOfTime, parseTimeZone, timeZones } from "@/lib/config/time-zone";

const hourMs = 60 * 60 * 1000;

describe("a time zone", () => {
  it.each([
    ["Europe/Berlin", "Europe/Berlin"],
    ["europe/berlin", "Europe/Berlin"],
    ["US/Pacific", "America/Los_Angeles"],
    ["UTC", "UTC"],
    ["Etc/UTC", "UTC"],
    ["America/Argentina/Buenos_Aires", parseTimeZone("America/Buenos_Aires")],
    ["Asia/Kolkata", parseTimeZone("Asia/Calcutta")],
    ["Europe/Kyiv", parseTimeZone("Europe/Kiev")],
  ])("that browsers send as %s is kept as %s", (sent, kept) => {
    expect(kept).toBeDefined();
    expect(parseTimeZone(sent)).toBe(kept);
  });

  it.each([
    "Etc/Unknown",
    "+05:30",
    "UTC+2",
    "",
    " ",
    "Mars/Olympus",
    "undefined",
    "Europe/Berlin ",
    "E".repeat(65),
  ])("is not what a browser sends that cannot tell, or anyone else: %j", (sent) => {
    expect(parseTimeZone(sent)).toBeUndefined();
    expect(aheadOfUtc(sent, 0)).toBeUndefined();
  });

  it("can be chosen from all that can be read", () => {
    expect(timeZones()).toContain("UTC");
    expect(timeZones().filter((zone) => aheadOfUtc(zone, 0) === undefined)).toEqual([]);
  });

  it.each([
    ["Europe/Berlin", "2027-03-28T00:59:59.999Z", 1, "Central European Standard Time"],
    ["Europe/Berlin", "2027-03-28T01:00:00.000Z", 2, "Central European Summer Time"],
    ["Europe/Berlin", "2027-10-31T00:30:00.000Z", 2, "Central European Summer Time"],
    ["Europe/Berlin", "2027-10-31T01:30:00.000Z", 1, "Central European Standard Time"],
    ["America/New_York", "2026-11-30T17:00:00.000Z", -5, "Eastern Standard Time"],
    ["Asia/Kolkata", "2026-11-30T17:00:00.000Z", 5.5, "India Standard Time"],
    ["Australia/Lord_Howe", "2027-07-01T00:00:00.000Z", 10.5, "Lord Howe Standard Time"],
    ["UTC", "2027-07-01T00:00:00.000Z", 0, "Coordinated Universal Time"],
  ])("of %s is at %s %d hours ahead of UTC, and called %s", (zone, at, hours, name) => {
    expect(aheadOfUtc(zone, Date.parse(at))).toBe(hours * hourMs);
    expect(nameOfTime(zone, Date.parse(at))).toBe(name);
  });
});
