import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "@/tests/support/leash";

/**
 * A clock that a test can advance, for a service and commands with its settings.
 *
 * @param stoppedAtMs - where its date stands still until a test advances it; without it, it goes as ours does
 */
export function makeClock(stoppedAtMs = 0) {
  const file = join(createFolder(), "clock");
  let aheadMs = 0;
  const stopped = () => stoppedAtMs && stoppedAtMs + aheadMs;
  const write = (flag: "w" | "r+") => writeFileSync(file, new Float64Array([aheadMs, stopped()]), { flag });
  write("w");
  return {
    environment: { NODE_OPTIONS: "--import ./tests/support/clock-ahead.mjs", TEST_CLOCK: file },
    /** Its time, in Unix milliseconds. */
    now: () => stopped() || Date.now() + aheadMs,
    /** Advances the clock. */
    pass(ms: number): void {
      aheadMs += ms;
      write("r+");
    },
  };
}
