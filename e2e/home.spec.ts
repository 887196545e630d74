import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, type Page } from "@playwright/test";
import { makeClock } from "@/tests/support/clock";
import { Service } from "@/tests/support/service";
import { openAccount, test } from "./support/office";

/** A separate service, because these tests break its store. */
let service: Service;
const clock = makeClock();

test.describe.configure({ mode: "serial" });
test.beforeAll(async () => {
  service = await Service.start({
    SIGN_IN: "local",
    LOG_LEVEL: "error",
    SUPPORT_EMAIL: "help@example.com",
    ...clock.environment,
  });
});
test.afterAll(async () => {
  await service.stop({ expectErrors: true });
});

function runSql(sql: string): void {
  const db = new DatabaseSync(join(service.dataDir, "store.sqlite"), { timeout: 5000 });
  db.exec(sql);
  db.close();
}

const comeHome = (page: Page, email: string, ...terms: string[]) =>
  openAccount(page, service, email, ...terms);

const open = (page: Page, path: string) => page.goto(`${service.url}${path}`);

/** Advances time until a check passes: a page's timers start with its scripts, which may be after the load event. */
async function passUntil(page: Page, ms: number, isSo: () => Promise<void>): Promise<void> {
  await expect(async () => {
    await page.clock.runFor(ms);
    await isSo();
  }).toPass();
}

const heading = (page: Page, words: RegExp) => () =>
  expect(page.getByRole("heading", { level: 1 })).toHaveText(words, { timeout: 1000 });

const verdict = (page: Page) => page.locator(".verdict");

test("the line that connects an agent is copied by a button", async ({ page }) => {
  await comeHome(page, "connecting@example.com", "--plan", "licensed");
  await open(page, "/home/access");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("link", { name: "Codex" }).click();
  await page.getByRole("button", { name: "Copy the line for Codex" }).click();
  await expect(page.getByText("Copied.")).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(`codex mcp add corner-office --url ${service.url}/mcp`);
});

test("all times are shown in the reader's time zone, which the page names", async ({ browser }) => {
  const context = await browser.newContext({ timezoneId: "Asia/Tokyo" });
  const page = await context.newPage();
  const told = page.waitForResponse((answer) => new URL(answer.url()).pathname === "/home/time-zone");
  await comeHome(page, "tokyo@example.com", "--trial-ends", "2027-01-31T20:30:00Z");
  await told;
  await expect(verdict(page)).toContainText("1 February at 05:30");
  await expect(page.getByText(/^Up to date at \d\d:\d\d \(Asia\/Tokyo\)\./)).toBeVisible();
  await open(page, "/home/access/developers");
  await page.getByRole("button", { name: "Copy a token" }).click();
  await expect(page.getByText(/Valid until \d\d:\d\d\.$/)).toBeVisible();
  expect(await page.locator("time").allTextContents()).not.toContain("UTC");
  await open(page, "/home/account");
  await expect(page.getByText("Japan Standard Time (Asia/Tokyo)")).toBeVisible();
  await context.close();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a page announces an automatic check only with JavaScript", async ({ page }) => {
      await comeHome(page, `promise-${javaScriptEnabled}@example.com`, "--plan", "licensed");
      await expect(page.locator("p:has(time) noscript")).toBeVisible({ visible: !javaScriptEnabled });
      await expect(page.getByText("This page keeps itself current")).toBeVisible({
        visible: javaScriptEnabled,
      });
    });
  });
}

test("an open page shows the end of the trial by itself", async ({ page }) => {
  await page.clock.install();
  const soon = new Date(Date.now() + 60_000).toISOString();
  await comeHome(page, "ending@example.com", "--trial-ends", soon);
  await expect(verdict(page)).toContainText("Your trial ends on ");
  await expect(verdict(page)).toContainText("1 hour left");
  clock.pass(60_000);
  await passUntil(page, 60_000, heading(page, /^Your trial ended on /));
  await expect(verdict(page)).toContainText("For a plan, write to help@example.com");
  await expect(page.getByText("hour left")).toHaveCount(0);
  await expect(verdict(page)).toContainText("You payNothing");
  const help = page.getByRole("link", { name: "Email support" });
  await expect(help).toHaveAttribute(
    "href",
    /^mailto:help@example\.com\?subject=.*&body=.*ending%40example\.com/,
  );
});

test("an owner is given a line for each agent that can be asked, and none for another app", async ({
  page,
}) => {
  await comeHome(page, "agents@example.com", "--plan", "hobby");
  const own = "account_id = (SELECT id FROM accounts WHERE email = 'agents@example.com') AND kind = 'app'";
  runSql(`INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, expires_at_ms)
    SELECT 'sess_agents', id, 'app', 'Weekly reports', ${clock.now()}, ${clock.now() + 60 * 60 * 1000}
    FROM accounts WHERE email = 'agents@example.com'`);
  await page.reload();
  await expect(page.locator(".latest-app")).not.toContainText("Now ask it:");
  for (const name of ["Gemini CLI", "Copilot CLI", "Codex", "Claude Code (laptop)"]) {
    runSql(`UPDATE local_sessions SET name = '${name}' WHERE ${own}`);
    await page.reload();
    await expect(page.locator(".latest-app")).toContainText(`${name}connected; it hasn’t checked yet`);
    await expect(page.locator(".latest-app")).toContainText("Now ask it:");
  }
});

test("an open page says what the app that was approved last was told, once it asks", async ({ page }) => {
  await page.clock.install();
  await comeHome(page, "asks@example.com", "--plan", "hobby");
  runSql(`INSERT INTO local_sessions (id, account_id, kind, name, begun_at_ms, expires_at_ms)
    SELECT 'sess_asks', id, 'app', 'Claude', ${clock.now()}, ${clock.now() + 60 * 60 * 1000}
    FROM accounts WHERE email = 'asks@example.com'`);
  await page.reload();
  const app = page.locator(".latest-app");
  await expect(app).toContainText("connected; it hasn’t checked yetNow ask it:");
  await expect(app).toContainText("Is my plan active, and how many credits are left?");
  runSql(`UPDATE local_sessions SET checked_at_ms = ${clock.now()}, told = 'hobby' WHERE id = 'sess_asks'`);
  await passUntil(page, 10_000, () =>
    expect(app).toContainText("checked your plan just now: your assistants can work there", {
      timeout: 3000,
    }),
  );
});

test("an outage is shown as an outage, and the page recovers by itself", async ({ page }) => {
  await page.clock.install();
  await comeHome(page, "outage@example.com", "--plan", "licensed");
  runSql("ALTER TABLE accounts RENAME TO accounts_away");
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "We cannot check your account at the moment",
  );
  await expect(page).toHaveURL(`${service.url}/home`);
  runSql("ALTER TABLE accounts_away RENAME TO accounts");
  await passUntil(page, 30_000, heading(page, /^Your plan is active$/));
});

test("an open page renews its session, and leads back through sign-in when the session has ended", async ({
  page,
}) => {
  await page.clock.install();
  await comeHome(page, "open@example.com", "--plan", "licensed");
  await open(page, "/home/access");
  const renewals: number[] = [];
  page.on("response", (answer) => {
    if (answer.url().endsWith("/sign-in/renew")) renewals.push(answer.status());
  });
  await passUntil(page, 45_000, async () => expect(renewals.length).toBeGreaterThanOrEqual(2));
  expect(new Set(renewals)).toEqual(new Set([204]));
  runSql("DELETE FROM local_sessions");
  await passUntil(page, 45_000, () =>
    expect(page).toHaveURL(`${service.url}/sign-in?problem=ended`, { timeout: 1000 }),
  );
  const asked = (await page.context().cookies()).find(({ name }) => name === "office-back");
  expect(asked?.value).toBe("/home/access");
});

test("an open page is not mixed with that of another owner, who signs in to the browser meanwhile", async ({
  page,
}) => {
  await page.clock.install();
  await comeHome(page, "one-owner@example.com", "--plan", "licensed");
  await open(page, "/home/account?zone");
  await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
  const other = await page.context().newPage();
  await comeHome(other, "other-owner@example.com", "--plan", "licensed");
  await expect(async () => {
    await page.clock.runFor(60 * 60 * 1000);
    await expect(page.locator(".who").first()).toHaveText("other-owner@example.com", { timeout: 1000 });
  }).toPass();
  await expect(page.locator("#me")).toContainText("other-owner@example.com");
  await expect(page.getByLabel("Time zone")).not.toHaveValue("Asia/Tokyo");
});

test("a token is shown when the browser refuses to copy it", async ({ page }) => {
  await comeHome(page, "shown@example.com", "--plan", "licensed");
  await open(page, "/home/access/developers");
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.getByRole("button", { name: "Copy a token" }).click();
  await expect(page.getByRole("textbox", { name: "Token" })).toBeVisible();
  const token = await page.getByRole("textbox", { name: "Token" }).inputValue();
  expect(await service.statusFor(token)).toBe(200);
});
