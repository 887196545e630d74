import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "@/tests/support/service";
import { nameOf } from "./haproxy";

/** The warnings and errors that the instances logged in this time. */
export function readLogs(instances: readonly Service[], fromMs: number, untilMs: number): string[] {
  return instances.flatMap(({ dataDir }, n) =>
    readFileSync(join(dataDir, "log"), "utf8")
      .split("\n")
      .filter((line) => /^\{"level":"(?:warn|error|fatal)","time":/.test(line))
      .filter((line) => {
        const { time } = JSON.parse(line);
        return time >= fromMs && time <= untilMs;
      })
      .map((line) => `${nameOf(n)} logged ${line}`),
  );
}
