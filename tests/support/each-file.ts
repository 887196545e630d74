import { afterAll } from "vitest";
import { endLeftovers } from "@/tests/support/leash";

/* A process runs many files, one after the other. Each finds the environment that the first one found. */
const before = { ...process.env };

afterAll(() => {
  endLeftovers();
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});
