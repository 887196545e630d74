import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const files = readdirSync("tests", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => join("tests", name));

/** Modules may keep what they read of the settings: who changes those, or mocks one, loads every module anew. */
const changes = /\bvi\.(mock|stubEnv)\(|\bprocess\.env\.\w+ =|\bdelete process\.env/;
const alone = files.filter((file) => changes.test(readFileSync(file, "utf8")));
const contract = ["tests/contract.test.ts"];
const together = files.filter((file) => !alone.includes(file) && !contract.includes(file));

const resolve = { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } };
const project = (name: string, include: string[], isolate = false) => ({
  resolve,
  test: {
    name,
    include,
    isolate,
    setupFiles: "tests/support/each-file.ts",
    // The report names what failed at first.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The report of a run says of what failed what it was.
    chaiConfig: { truncateThreshold: 1000 },
  },
});

export default defineConfig({
  resolve,
  test: {
    globalSetup: "tests/support/databases.ts",
    // The files wait about as long as they compute: four keep two processors busy. None is ended while it is idle, for
    // which Vitest's pool now and then fails a run.
    minWorkers: 4,
    maxWorkers: 4,
    isolate: false,
    projects: [project("together", together), project("alone", alone, true), project("contract", contract)],
  },
});
