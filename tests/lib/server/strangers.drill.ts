import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { flood, networks } from "@/tests/support/flood";
import { median } from "@/tests/support/timing";

const service = await startService({ SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" });
await service.ready();
const owner = await Browser.admit(service, "ceo@example.com");

/** What a page answers again and again, and the milliseconds that its middle answer took. */
async function repeat(times: number, open: () => Promise<{ status: number }>) {
  const statuses = new Map<number, number>();
  const tookMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const beganAtMs = performance.now();
    const { status } = await open();
    tookMs.push(performance.now() - beganAtMs);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return { statuses: Object.fromEntries(statuses), middle: median(tookMs) };
}

describe("pages that are rendered for each request", () => {
  const path = "/docs/search?q=entitlement";

  it.each([
    ["three addresses", ["192.0.2.1", "192.0.2.2", "192.0.2.3"], 150],
    ["a hundred networks", networks(100), 200],
  ])(
    "come to an owner within a second while %s do their worst, who pay for what is refused",
    async (_, addresses, connections) => {
      const strangers = flood(service, { path, addresses, connections });
      const seen = await repeat(40, () => owner.open("/home"));
      const newcomer = await repeat(10, () =>
        service.ask("/docs/search?q=credits", { headers: { "x-forwarded-for": "198.51.100.7" } }),
      );
      const statuses = await strangers.stop();
      expect(seen.statuses).toEqual({ 200: 40 });
      expect(seen.middle).toBeLessThan(1000);
      if (addresses.length < 100) {
        expect(newcomer.statuses, "and to a newcomer").toEqual({ 200: 10 });
        expect(statuses.get(429), "their limits are used up").toBeGreaterThan(0);
      }
    },
  );
});
