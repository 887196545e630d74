import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { consumeRateLimit } from "@/lib/rate-limit/rate-limit";
import { createFolder } from "@/tests/support/leash";

beforeAll(() => vi.stubEnv("DATA_DIR", createFolder()));
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

describe("a quota", () => {
  it("does not change when the wall clock is set forward or back", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const request = new Request("http://localhost/api/health");
    const remaining = async () => {
      const { headers } = await consumeRateLimit("health", request);
      return headers[headers.indexOf("ratelimit-remaining") + 1];
    };
    const twoHoursMs = 2 * 60 * 60 * 1000;
    expect(await remaining()).toBe("119");
    vi.setSystemTime(Date.now() + twoHoursMs);
    expect(await remaining()).toBe("118");
    vi.setSystemTime(Date.now() - 2 * twoHoursMs);
    expect(await remaining()).toBe("117");
  });
});
