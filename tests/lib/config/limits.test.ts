import { describe, expect, it } from "vitest";
import { inKibibytes, quotas } from "@/lib/config/limits";
import { parseSettings } from "@/lib/config/settings";
import { minNoticeDays } from "@/lib/http/retirement";

describe("the limits in the specification", () => {
  it("are 120 health checks and 60 MCP messages per 60 seconds, and 90 days' notice", () => {
    expect(quotas.health).toEqual({ requests: 120, windowSeconds: 60 });
    expect(quotas.mcp).toEqual({ requests: 60, windowSeconds: 60 });
    expect(minNoticeDays).toBe(90);
  });

  it("are the defaults of the settings", () => {
    const { requestsPerMinute } = parseSettings({});
    expect(requestsPerMinute).toEqual({ health: 120, mcp: 60 });
  });
});

describe("inKibibytes", () => {
  it.each([
    [4096, "4 KiB"],
    [65_536, "64 KiB"],
    [1536, "1.5 KiB"],
  ])("formats %i bytes as %s", (bytes, words) => {
    expect(inKibibytes(bytes)).toBe(words);
  });
});
