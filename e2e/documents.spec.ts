import { expect } from "@playwright/test";
import { expectAccessible } from "./support/axe";
import { test } from "./support/office";

const documents = [
  ["/docs", "Quick start"],
  ["/docs/authentication", "Authentication"],
  ["/docs/connect", "Connect an app"],
  ["/docs/client", "A complete client"],
  ["/docs/api", "API reference"],
  ["/docs/api/entitlement", "GET /api/entitlement"],
  ["/docs/api/headers", "Headers"],
  ["/docs/api/error-object", "The error object"],
  ["/changes", "Changes"],
  ["/status", "Everything works"],
  ["/docs/api/errors", "Error codes"],
  ["/docs/api/limits", "Limits"],
  ["/docs/api/policy", "Versions and retirement"],
  ["/docs/mcp", "MCP"],
  ["/docs/search?q=token", "Search the documents"],
  ["/docs/nothing-here", "Nothing here"],
] as const;

for (const [address, heading] of documents) {
  test(`${address} opens with no fault that a browser or axe can find`, async ({ page, baseURL }) => {
    const faults: string[] = [];
    const isMissing = heading === "Nothing here";
    page.on("console", (message) => {
      const isExpected = isMissing && message.text().includes("404");
      if (message.type() === "error" && !isExpected) faults.push(message.text());
    });
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${baseURL}/`)) faults.push(request.url());
    });
    await page.goto(address, { waitUntil: "networkidle" });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    await expectAccessible(page);
    expect(faults).toEqual([]);
  });
}

test("the open palette is clean too", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("option", { name: "Copy this page as Markdown" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("combobox").fill("token");
  await expect(page.getByRole("option").first()).toContainText("token");
  await expectAccessible(page);
});

test("the palette is used with the keyboard alone", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.keyboard.press("/");
  const box = page.getByRole("combobox", { name: "Search the documents" });
  await expect(box).toBeFocused();
  await page.keyboard.type("trial_ended");
  const first = page.getByRole("option").first();
  await expect(first).toContainText("Error codes: trial_ended");
  await expect(first).toHaveAttribute("aria-selected", "true");
  await expect(box).toHaveAttribute("aria-activedescendant", "hit-0");
  await page.keyboard.press("ArrowDown");
  await expect(first).toHaveAttribute("aria-selected", "false");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Escape");
  await expect(box).toBeHidden();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("trial_ended");
  await expect(first).toContainText("Error codes: trial_ended");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/docs\/api\/errors#trial_ended$/);
});

test("the palette helps where nothing fits", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.keyboard.press("/");
  await page.keyboard.type("xylophone");
  await expect(page.getByRole("dialog").getByRole("status")).toContainText(
    "Nothing found for “xylophone”. Try",
  );
  await expect(page.getByRole("option", { name: "See the status of this service" })).toBeVisible();
});

test("a hit opens on a click", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.getByLabel("Search the documents").first().click();
  await page.getByRole("combobox").fill("change log");
  await page.getByRole("option").first().click();
  await expect(page).toHaveURL(/\/docs\/api\/policy#change-log$/);
});

test("a language that was chosen is remembered, everywhere, and can be linked to", async ({ page }) => {
  await page.goto("/docs/api/health", { waitUntil: "networkidle" });
  await page.getByRole("radio", { name: "Python" }).check();
  await expect(page).toHaveURL(/\?lang=python$/);
  await expect(page.getByText("urllib.request.urlopen")).toBeVisible();
  await page.goto("/docs/client", { waitUntil: "networkidle" });
  await expect(page.getByText("SECONDS_AFTER_NO = 600")).toBeVisible();
  await page.goto("/docs/client?lang=kotlin", { waitUntil: "networkidle" });
  await expect(page.getByText("HttpURLConnection").first()).toBeVisible();
});

test("an operation is run by the reader's own browser, and each of its answers is shown", async ({
  page,
}) => {
  await page.goto("/docs/api/entitlement", { waitUntil: "networkidle" });
  await page.getByRole("button", { name: "Run it here" }).click();
  const result = page.getByRole("complementary").getByRole("status");
  await expect(result).toContainText("This service answered 401");
  await expect(result).toContainText("www-authenticate: Bearer");
  await page.getByRole("radio", { name: "403 trial_ended" }).check();
  await expect(page.locator(".way:visible").getByText('"trial-ended"')).toBeVisible();
});

test("a page is copied as Markdown", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/docs/client", { waitUntil: "networkidle" });
  await page.getByRole("button", { name: "Copy page as Markdown" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^# A complete client\n/);
});

test("a sample names this service, and a button copies it", async ({ page, context, baseURL }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.getByRole("button", { name: "Copy", exact: true }).first().click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `export CORNER_OFFICE_URL=${baseURL}\ncurl -sS "$CORNER_OFFICE_URL/api/health"\n`,
  );
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("documents are read and searched", async ({ page }) => {
    await page.goto("/docs/api/entitlement");
    const section = page.locator("#request");
    await section.getByText("Python", { exact: true }).click();
    await expect(section.getByText("urllib.request.urlopen")).toBeVisible();
    await page.getByLabel("Search the documents").fill("balance_unavailable");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("status")).toContainText("found for “balance_unavailable”");
    await page.getByRole("link", { name: "Error codes: balance_unavailable" }).click();
    await expect(page.locator(":target")).toContainText("Try again shortly.");
  });
});
