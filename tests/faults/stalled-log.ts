import { execFileSync } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "@/tests/support/leash";
import { Service } from "@/tests/support/service";
import type { Experiment } from "./experiment";

const requests = 5000;

/** Standard error is a pipe without a reader. */
export const stalledLog: Experiment = {
  name: "stalled-log",
  async run(see) {
    const fifo = join(createFolder(), "fifo");
    execFileSync("mkfifo", [fifo]);
    const service = await Service.start({ RATE_LIMIT_HEALTH: "1000000" }, { logTo: openSync(fifo, "r+") });
    let slowestMs = 0;
    for (let n = 0; n < requests; n++) {
      const askedAtMs = performance.now();
      await service.ask("/api/health");
      slowestMs = Math.max(slowestMs, performance.now() - askedAtMs);
    }
    see({
      what: `${requests} requests`,
      figure: `all answered, the slowest in ${Math.round(slowestMs)} ms (under 5000)`,
      holds: slowestMs < 5000,
    });
    const code = await service.stop();
    see({ what: "SIGTERM", figure: `exit ${code} (0)`, holds: code === 0 });
  },
};
