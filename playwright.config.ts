import { defineConfig, devices } from "@playwright/test";
import { makeFolder } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";

// The workers read this file as well: they find what the first reading made.
process.env.E2E_PORT ??= String(await reservePort());
process.env.E2E_DATA_DIR ??= makeFolder();

export const environment = {
  NODE_ENV: "production",
  SIGN_IN: "local",
  PORT: process.env.E2E_PORT,
  DATA_DIR: process.env.E2E_DATA_DIR,
  // Every test is a client of its own, by the address it says it forwards for.
  TRUSTED_PROXY_HOPS: "1",
  LOG_LEVEL: "warn",
} as const;

/** Debian's Chromium: Playwright's own download is not needed. The switches keep it from calling home. */
export const chromium = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};

export default defineConfig({
  testDir: "e2e",
  globalSetup: "./e2e/support/clerk-scripts.ts",
  fullyParallel: true,
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  reporter: "list",
  use: {
    ...devices["Desktop Chrome"],
    baseURL: `http://localhost:${process.env.E2E_PORT}`,
    launchOptions: chromium,
  },
  webServer: {
    command: "node dist/front/main.js",
    env: environment,
    url: `http://localhost:${process.env.E2E_PORT}/api/health`,
  },
});
