import { describe, expect, it } from "vitest";
import { inKibibytes, quotas } from "@/lib/config/limits";
import { parseSettings } from "@/lib/config/settings";
import { minNoticeDays } from "@/lib/http/retirement";

describe("what the specification fixes", () => {
  it("is 120 health checks and 60 messages to the MCP server in 60 seconds, and 90 days' notice", () => {
    expect(quotas.health).toEqual({ requests: 120, windowSeconds: 60 });
    expect(quotas.mcp).toEqual({ requests: 60, windowSeconds: 60 });
    expect(minNoticeDays).toBe(90);
  });

  it("is what a service has that nobody has told otherwise", () => {
    const { requestsPerMinute } = parseSettings({});
    expect(requestsPerMinute).toEqual({ health: 120, mcp: 60 });
  });
});

describe("a bound in words", () => {
  it.each([
    [4096, "4 KiB"],
    [65_536, "64 KiB"],
    [1536, "1.5 KiB"],
  ])("%i bytes are %s", (bytes, words) => {
    expect(inKibibytes(bytes)).toBe(words);
  });
});
