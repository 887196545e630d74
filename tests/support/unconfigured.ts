import { expect, onTestFinished } from "vitest";
import { oncePerWorker } from "@/tests/support/once-per-worker";
import { Service } from "@/tests/support/service";

/**
 * A service in production without any settings, which a worker starts once. It is for tests that change nothing, and
 * that consume only the limits of their own client address. A test fails if the service logged an error during it.
 */
export function unconfigured(): Promise<Service> {
  onTestFinished(async () => expect((await started()).takeErrors()).toEqual([]));
  return started();
}

const started = () =>
  oncePerWorker("the unconfigured service", () => Service.start({}, { until: "process" }));
