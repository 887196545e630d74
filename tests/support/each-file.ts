import { afterAll, vi } from "vitest";
import { endLeftovers } from "@/tests/support/leash";

/* A process runs many files, one after the other. Each finds it as if it were the first. */
const before = { ...process.env };

afterAll(() => {
  endLeftovers();
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  // What `processSingleton` kept.
  (globalThis as Record<symbol, Map<string, unknown> | undefined>)[Symbol.for("corner-office")]?.clear();
});
