import { expect, it } from "vitest";
import { RecentCache } from "@/lib/runtime/recent-cache";

it("keeps at least half of its maximum, and never more than the maximum", () => {
  const recent = new RecentCache<number>(100);
  for (let at = 0; at < 1000; at++) {
    recent.set(`key ${at}`, at);
    if (at >= 49) expect(recent.get(`key ${at - 49}`)).toBe(at - 49);
    if (at >= 100) expect(recent.get(`key ${at - 100}`)).toBeUndefined();
  }
});

it("keeps what was set for a time at least, and not for twice that time", () => {
  const recent = new RecentCache<number>(1000, 600);
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
    recent.set(`key ${nowMs}`, nowMs, nowMs);
    if (nowMs >= 600) expect(recent.get(`key ${nowMs - 600}`)).toBe(nowMs - 600);
    if (nowMs >= 1200) expect(recent.get(`key ${nowMs - 1200}`)).toBeUndefined();
  }
});
