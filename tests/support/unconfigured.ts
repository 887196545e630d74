import { expect, onTestFinished } from "vitest";
import { oncePerWorker } from "@/tests/support/once-per-worker";
import { Service } from "@/tests/support/service";

/**
 * A service in production for which nothing is set, which a worker starts once. It is for tests that change nothing, and
 * that spend the allowance of no address but their own. A test fails when it logged an error meanwhile.
 */
export function unconfigured(): Promise<Service> {
  onTestFinished(async () => expect((await started()).takeErrors()).toEqual([]));
  return started();
}

const started = () =>
  oncePerWorker("the unconfigured service", () => Service.start({}, { until: "process" }));
