import { expect } from "@playwright/test";
import { expectAccessible } from "./support/axe";
import { test } from "./support/office";

const documents = [
  ["/docs", "Quick start"],
  ["/docs/authentication", "Authentication"],
  ["/docs/api", "API reference"],
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

test("the open list of hits is clean too", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.getByRole("combobox").fill("token");
  await expect(page.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await expectAccessible(page);
});

test("the search is used with the keyboard alone", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.keyboard.press("/");
  const box = page.getByRole("combobox", { name: "Search the documents" });
  await expect(box).toBeFocused();
  await page.keyboard.type("trial_ended");
  const first = page.getByRole("option").first();
  await expect(first).toContainText("Error codes: trial_ended");
  await page.keyboard.press("ArrowDown");
  await expect(first).toHaveAttribute("aria-selected", "true");
  await expect(box).toHaveAttribute("aria-activedescendant", "search-hit-0");
  await page.keyboard.press("ArrowUp");
  await expect(box).not.toHaveAttribute("aria-activedescendant");
  await page.keyboard.press("Escape");
  await expect(first).toBeHidden();
  await page.keyboard.type(" ");
  await page.keyboard.press("Backspace");
  await expect(first).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/docs\/api\/errors#trial_ended$/);
});

test("a hit opens on a click", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.getByRole("combobox").fill("change log");
  await page.getByRole("option").first().click();
  await expect(page).toHaveURL(/\/docs\/api\/policy#change-log$/);
});

test("a sample names this service, and a button copies it", async ({ page, context, baseURL }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.getByRole("button", { name: "Copy" }).first().click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `export CORNER_OFFICE_URL=${baseURL}\ncurl -sS "$CORNER_OFFICE_URL/api/health"\n`,
  );
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("documents are read and searched", async ({ page }) => {
    await page.goto("/docs/api");
    const section = page.locator("#get-api-entitlement");
    await expect(section.getByRole("heading", { level: 2 })).toHaveText("GET /api/entitlement");
    await section.getByText("Python", { exact: true }).click();
    await expect(section.getByText("urllib.request.urlopen")).toBeVisible();
    await page.getByLabel("Search the documents").fill("balance_unavailable");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("status")).toContainText("found for “balance_unavailable”");
    await page.getByRole("link", { name: "Error codes: balance_unavailable" }).click();
    await expect(page.locator(":target")).toContainText("Try again shortly.");
  });
});
