import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)) } },
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: "tests/support/databases.ts",
    maxWorkers: 2,
    // The report names what failed at first.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The report of a run says of what failed what it was.
    chaiConfig: { truncateThreshold: 1000 },
  },
});
