import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFolder } from "@/tests/support/leash";
import { Service } from "@/tests/support/service";
import { startUpstashBridge } from "@/tests/support/upstash-bridge";
import type { Experiment } from "./experiment";

const twoHoursMs = 2 * 60 * 60 * 1000;

/** The wall clock is set two hours forward, and two hours back. */
export const clockSteps: Experiment = {
  name: "clock-steps",
  async run(see, world) {
    const file = join(createFolder(), "clock");
    const step = (aheadMs: number) => writeFileSync(file, String(aheadMs));
    step(0);
    const environment = {
      NODE_OPTIONS: "--import ./tests/faults/wall-clock.mjs",
      TEST_WALL_CLOCK: file,
      RATE_LIMIT_HEALTH: "3",
    };
    const service = await Service.start(environment);
    const askUntilRefused = async (from: string) => {
      for (;;) {
        const { status, headers } = await service.ask("/api/health", { from });
        if (status === 429) return Number(headers["retry-after"]);
      }
    };
    for (const [n, aheadMs] of [0, twoHoursMs, -twoHoursMs].entries()) {
      step(aheadMs);
      const waitSeconds = await askUntilRefused(`127.0.7.${n + 1}`);
      const again = await askUntilRefused("127.0.7.1");
      see({
        what: `the clock ${aheadMs / 3_600_000} hours ahead: a refused client`,
        figure: `waits ${waitSeconds} s, one refused before ${again} s (60 at most)`,
        holds: waitSeconds <= 60 && again <= 60,
      });
    }
    step(twoHoursMs);
    await service.adminJson("banner", "set", "warning", "one");
    await sleep(16_000);
    const before = (await service.ask("/api/site-banner")).text;
    await service.adminJson("banner", "set", "warning", "two");
    step(-twoHoursMs);
    await sleep(16_000);
    const after = (await service.ask("/api/site-banner")).text;
    see({
      what: "the clock stepped back: the notice",
      figure: `is ${/one|two/.exec(before)?.[0]}, then ${/one|two/.exec(after)?.[0]} (one, two)`,
      holds: before.includes("one") && after.includes("two"),
    });
    await service.kill();

    const bridge = await startUpstashBridge(await world.redisPort());
    step(0);
    const shared = await Service.start({ ...environment, ...bridge.environment });
    bridge.fault = "reset";
    await shared.ask("/api/health");
    bridge.fault = "none";
    step(-twoHoursMs);
    await sleep(1500);
    for (let n = 0; n < 3; n++) await shared.ask("/api/health", { from: `127.0.8.${n + 1}` });
    const { headers } = await shared.ask("/api/health", { from: "127.0.8.9" });
    see({
      what: "the clock stepped back while the counter store was away: requests left",
      figure: `${headers["ratelimit-remaining"]} (2)`,
      holds: headers["ratelimit-remaining"] === "2",
    });
    await shared.kill();
    await bridge.stop();
  },
};
