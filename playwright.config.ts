import { defineConfig, devices } from "@playwright/test";

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
  // Clerk's tests take turns: one worker begins with them, and no end is left where the other waits for it.
  projects: [
    { name: "clerk", testMatch: "clerk.spec.ts" },
    { name: "local", testIgnore: "clerk.spec.ts" },
    // `npm run drills`.
    { name: "drills", testMatch: "*.drill.ts" },
  ],
  fullyParallel: true,
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  retries: process.env.CI ? 1 : 0,
  reporter: "list",
  timeout: 120_000,
  expect: { timeout: 30_000 },
  use: { ...devices["Desktop Chrome"], launchOptions: chromium },
});
