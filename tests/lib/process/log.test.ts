import { describe, expect, it } from "vitest";
import { operations } from "@/lib/api/operations";
import { Service } from "@/tests/support/service";

describe("the log", () => {
  it("holds nothing up when its reader goes away", async () => {
    const service = await Service.start({ RATE_LIMIT_HEALTH: "100000" });
    service.closeLog();
    for (let asked = 0; asked < 200; asked++) {
      expect((await service.ask(operations.health.path)).status).toBe(200);
    }
    expect(await service.stop()).toBe(0);
  });
});
