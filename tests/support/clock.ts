import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "@/tests/support/leash";

/** A clock that a test can advance, for a service and commands with its settings. */
export function makeClock() {
  const file = join(createFolder(), "clock");
  let aheadMs = 0;
  writeFileSync(file, "0");
  return {
    environment: { NODE_OPTIONS: "--import ./tests/support/clock-ahead.mjs", TEST_CLOCK: file },
    /** Its time, in Unix milliseconds. */
    now: () => Date.now() + aheadMs,
    /** Advances the clock. */
    pass(ms: number): void {
      aheadMs += ms;
      writeFileSync(`${file}.new`, String(aheadMs));
      renameSync(`${file}.new`, file);
    },
  };
}
