import { expect, it } from "vitest";
import { jitter, retryAfterOutage } from "@/lib/runtime/jitter";

it("returns both limits and nothing beyond them", () => {
  expect([0, 0.2499, 0.25, 0.9999].map((chance) => jitter(1, 4, chance))).toEqual([1, 1, 2, 4]);
});

it("lets clients retry 5 to 30 seconds after an outage", () => {
  expect(retryAfterOutage(0)).toEqual({ "retry-after": "5" });
  expect(retryAfterOutage(0.9999)).toEqual({ "retry-after": "30" });
});
