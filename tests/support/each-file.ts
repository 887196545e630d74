import { afterAll, vi } from "vitest";
import { endLeftovers } from "@/tests/support/leash";

/* A process runs many test files in sequence. Each starts with the state of a new process. */
const before = { ...process.env };

afterAll(() => {
  endLeftovers();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  // The values of `perProcess`.
  const singletons = (globalThis as Record<symbol, { values: unknown } | undefined>)[
    Symbol.for("corner-office")
  ];
  if (singletons) singletons.values = new Map();
});
