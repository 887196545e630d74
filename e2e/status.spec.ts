import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@playwright/test";
import { dayMs } from "@/lib/config/durations";
import { Service } from "@/tests/support/service";
import { expectAccessible, expectNoSidewaysScroll } from "./support/axe";

/** A separate service, because it has outages. Its mail goes to files, the default. */
let service: Service;

const hourMs = 3_600_000;
const nowMs = Date.now();
const outages = [
  // Seen in the future: the service ends an outage that was not seen for a while.
  { part: "Rate limits", startedAtMs: nowMs - 2 * hourMs, seenAtMs: nowMs + hourMs, endedAtMs: null },
  { part: "Pages and documents", ...whole(nowMs - 3 * dayMs, 95 * 60_000) },
  { part: "Accounts and credits", ...whole(nowMs - 89 * dayMs, 20_000) },
  { part: "MCP server", ...whole(nowMs - 91 * dayMs, hourMs) },
];

function whole(startedAtMs: number, ms: number) {
  return { startedAtMs, seenAtMs: startedAtMs + ms, endedAtMs: startedAtMs + ms };
}

/** A time as the page writes it. */
function minute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

test.beforeAll(async () => {
  service = await Service.make({ SIGN_IN: "local", LOG_LEVEL: "warn" });
  await service.admin("migrate");
  const db = new DatabaseSync(join(service.dataDir, "store.sqlite"));
  const insert = db.prepare(
    "INSERT INTO status_outages (part, started_at_ms, seen_at_ms, ended_at_ms) VALUES (?, ?, ?, ?)",
  );
  for (const { part, startedAtMs, seenAtMs, endedAtMs } of outages)
    insert.run(part, startedAtMs, seenAtMs, endedAtMs);
  db.close();
  await service.run();
});
test.afterAll(() => service.stop());

test("the status says that mail is not delivered, and lists the outages of the last 90 days", async ({
  page,
}) => {
  // The page shows the state of one moment, and the service may still be starting.
  await expect(async () => {
    await page.goto(`${service.url}/status`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Mail: not being delivered", {
      timeout: 1,
    });
  }).toPass();
  await expect(page.getByRole("listitem").filter({ hasText: "Mail" })).toContainText("Not being delivered");
  const [lasting, ended, short] = outages.map(({ startedAtMs }) => startedAtMs);
  const history = page.getByRole("heading", { name: "Last 90 days" }).locator("+ ul");
  await expect(history.getByRole("listitem")).toHaveText([
    `Rate limits: ${minute(lasting ?? 0)} until now`,
    `Pages and documents: ${minute(ended ?? 0)} to ${minute((ended ?? 0) + 95 * 60_000)} (95 minutes)`,
    `Accounts and credits: ${minute(short ?? 0)} to ${minute((short ?? 0) + 20_000)} (under a minute)`,
  ]);
});

test("the status with outages is accessible in both themes, and fits phones", async ({ page }) => {
  await page.goto(`${service.url}/status`);
  await expectAccessible(page);
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 640 });
    await expectNoSidewaysScroll(page, `${width} pixels`);
  }
});
