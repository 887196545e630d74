import { expect } from "@playwright/test";
import { expectAccessible } from "./support/axe";
import { test } from "./support/office";

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
  await expect(box).toHaveAttribute("aria-activedescendant", "hit-0-0");
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
  await expect(page.getByRole("group", { name: "Start" }).getByRole("option").first()).toHaveText(
    "Quick start",
  );
  await expect(page.getByRole("group", { name: "Actions" }).getByText("Status")).toBeVisible();
});

test("the palette puts what it finds under headings, and forgives a slip of the keys", async ({ page }) => {
  await page.goto("/docs", { waitUntil: "networkidle" });
  await page.keyboard.press("/");
  await page.keyboard.type("entitlment");
  const hits = page.getByRole("group", { name: "Documents" });
  await expect(hits.getByRole("option").first()).toContainText("GET /api/entitlement");
  await page.getByRole("combobox").fill("ended trail");
  const codes = page.getByRole("group", { name: "Error codes" });
  await expect(codes.getByRole("option").first()).toContainText("trial_ended");
  await page.getByRole("combobox").fill("stat");
  await page.getByRole("group", { name: "Actions" }).getByText("Status").click();
  await expect(page).toHaveURL(/\/status$/);
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

test("a document prints its words and all of its samples, and nothing to press", async ({ page }) => {
  await page.goto("/docs/client");
  await page.emulateMedia({ media: "print" });
  for (const gone of [".contents", ".sections", ".copy", ".foot nav", ".tabs fieldset"]) {
    await expect(page.locator(gone).first(), gone).toBeHidden();
  }
  for (const shown of ["class CompanyGate:", "actor CompanyGate", "What each answer means"]) {
    await expect(page.getByText(shown).first()).toBeVisible();
  }
});
