import { expect } from "@playwright/test";
import { newcomers } from "@/tests/lib/docs/search-questions";
import { expectAccessible } from "./support/axe";
import { settle, test } from "./support/office";

test("the palette is accessible, works with the keyboard alone, and helps when nothing matches", async ({
  page,
}) => {
  await page.goto("/docs");
  await settle(page);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("option", { name: "Copy page as Markdown" })).toBeVisible();
  await expectAccessible(page);
  const box = page.getByRole("combobox", { name: "Search the documents" });
  const first = page.getByRole("option").first();
  await box.fill("token");
  await expect(first).toContainText("token");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(box).toBeHidden();

  await page.keyboard.press("/");
  await expect(box, "a key without a modifier").toBeHidden();
  await page.keyboard.press("Control+k");
  await expect(box).toBeFocused();
  await Promise.all([page.keyboard.press("Escape"), page.keyboard.press("Control+k")]);
  await expect(box, "in the same moment").toBeFocused();
  await page.keyboard.type("xylophone");
  await expect(page.getByRole("dialog").getByRole("status")).toContainText(
    "Nothing found for “xylophone”. Try",
  );
  await expect(page.getByRole("group", { name: "Start" }).getByRole("option").first()).toHaveText(
    "Quick start",
  );
  await expect(page.getByRole("group", { name: "Actions" }).getByText("Status")).toBeVisible();

  await box.fill("entitlment");
  const hits = page.getByRole("group", { name: "Documents" });
  await expect(hits.getByRole("option").first(), "a slip is forgiven").toContainText("GET /api/entitlement");
  await box.fill("ended trail");
  const codes = page.getByRole("group", { name: "Error codes" });
  await expect(codes.getByRole("option").first()).toContainText("trial_ended");

  await box.fill("");
  await expect(first).toHaveText("Quick start");
  await box.fill("trial_ended");
  await expect(first).toContainText("Error codes: trial_ended");
  await expect(page.getByRole("option").last()).toHaveText("All results on one page");
  const count = (await page.getByRole("option").count()) - 1;
  await expect(page.getByRole("dialog").getByRole("status")).toHaveText(new RegExp(`^${count} results?$`));
  await expect(first).toHaveAttribute("aria-selected", "true");
  await expect(box).toHaveAttribute("aria-activedescendant", "hit-0-0");
  await page.keyboard.press("ArrowDown");
  await expect(first).toHaveAttribute("aria-selected", "false");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/docs\/api\/errors#trial_ended$/);
});

test("a newcomer finds each answer with at most two clicks from the first document", async ({ page }) => {
  for (const [question, path, ...links] of newcomers) {
    await test.step(question, async () => {
      expect(links.length).toBeLessThanOrEqual(2);
      await page.goto("/docs");
      for (const words of links)
        await page
          .locator(":is(.contents > nav, .sections, main) a", { hasText: words })
          .filter({ visible: true })
          .first()
          .click();
      await expect(page).toHaveURL(new RegExp(`${path}$`));
    });
  }
});

test("the results page keeps its query, marks and groups what was found, and helps when nothing was", async ({
  page,
}) => {
  await page.goto("/docs/search?q=verify+a+webhook");
  const box = page.getByRole("searchbox", { name: "Search the documents" });
  await expect(box).toHaveValue("verify a webhook");
  await expect(page.getByRole("status")).toContainText(/results in \d+ documents for “verify a webhook”\./);
  const first = page.locator(".hits section").first();
  await expect(first.getByRole("heading")).toHaveText("Webhooks");
  await expect(first.locator("mark").filter({ hasText: "Verify" }).first()).toBeVisible();
  await expectAccessible(page);

  await box.fill("xylophone");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status")).toHaveText("Nothing found for “xylophone”.");
  await expect(page.getByRole("link", { name: "Connect Claude Code" })).toBeVisible();
  await expectAccessible(page);
});

test("old anchors lead to where their sections are now", async ({ page }) => {
  await page.goto("/docs#report-a-vulnerability");
  await expect(page).toHaveURL(/\/docs\/support#report-a-vulnerability$/);
  await page.goto("/docs/connect#a-program-in-a-terminal");
  await expect(page).toHaveURL(/\/docs\/connect\/terminal$/);
});

test("a sample stays in view beside its text on a wide window", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/docs/connect/iphone");
  const step = page.locator('[id="3-connect-and-ask"] .step');
  const [text, sample] = await Promise.all(
    [step.locator("> div").first(), step.locator(".sample")].map((part) => part.boundingBox()),
  );
  expect(sample?.y).toBeLessThan((text?.y ?? 0) + 20);
  expect(sample?.x).toBeGreaterThan((text?.x ?? 0) + (text?.width ?? 0));
});

test("the palette's hits and actions can be clicked, also on the last iPhones that iOS 16 is for", async ({
  page,
}) => {
  await page.addInitScript(() => Reflect.deleteProperty(Map, "groupBy"));
  await page.goto("/docs");
  await settle(page);
  await page.getByLabel("Search the documents").first().click();
  await page.getByRole("combobox").fill("change log");
  await page.getByRole("group", { name: "Documents" }).getByRole("option").first().click();
  await expect(page).toHaveURL(/\/docs\/api\/policy#change-log$/);
  await page.waitForLoadState();
  await settle(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("stat");
  await page.getByRole("group", { name: "Actions" }).getByText("Status").click();
  await expect(page).toHaveURL(/\/status$/);
});

test("an operation's request comes before its fields on a phone, and next to them on a screen", async ({
  page,
}) => {
  await page.goto("/docs/api/entitlement");
  const top = async (selector: string) => (await page.locator(selector).boundingBox())?.y ?? Number.NaN;
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(await top("#request")).toBeLessThan(await top("#fields"));
  await page.setViewportSize({ width: 360, height: 780 });
  expect(await top("h1")).toBeLessThan(await top("#request"));
  expect(await top("#request")).toBeLessThan(await top("#fields"));
});

test("a chosen language is remembered on every page and can be linked to", async ({ page }) => {
  await page.goto("/docs/api/health");
  await settle(page);
  await page.getByRole("radio", { name: "Python" }).check();
  await expect(page).toHaveURL(/\?lang=python$/);
  await expect(page.getByText("urllib.request.Request(")).toBeVisible();
  await page.goto("/docs/client");
  await settle(page);
  await expect(page.getByText("def keep_asking(self, on_answer)").first()).toBeVisible();
  await page.goto("/docs/client?lang=kotlin");
  await settle(page);
  await expect(page.getByText("fun keepAsking(").first()).toBeVisible();
});

test("the reader's browser runs an operation, keeps the focus, and shows each response", async ({ page }) => {
  await page.goto("/docs/api/entitlement");
  await settle(page);
  const run = page.getByRole("button", { name: "Run it here" });
  const result = page.getByRole("complementary").getByRole("status");
  await run.focus();
  for (let press = 0; press < 2; press++) {
    await page.keyboard.press("Enter");
    await expect(result).toContainText("This service answered 401");
    await expect(run).toBeFocused();
  }
  await expect(result).toContainText("www-authenticate: Bearer");
  await page.getByRole("radio", { name: "403 trial_ended" }).check();
  await expect(page.locator(".way:visible").getByText('"trial-ended"')).toBeVisible();
});

test("a page is copied as Markdown, and a sample names this service's address", async ({
  page,
  context,
  baseURL,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/docs");
  await settle(page);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole("button", { name: "Copy page as Markdown" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await copied()).toMatch(/^# Quick start\n/);
  const sample = page.locator(".sample").first();
  await sample.getByRole("button").click();
  await expect(sample.getByRole("button")).toHaveText("Copied");
  expect(await copied()).toBe(
    `export CORNER_OFFICE_URL=${baseURL}\ncurl -sS "$CORNER_OFFICE_URL/api/health"\n`,
  );
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("an old anchor shows where its section is now", async ({ page }) => {
    await page.goto("/docs#support");
    await page.locator(".moved:visible").getByRole("link", { name: "Support" }).click();
    await expect(page).toHaveURL(/\/docs\/support$/);
  });

  test("documents can be read and searched", async ({ page }) => {
    await page.goto("/docs/api/entitlement");
    const section = page.locator("#request");
    await section.getByText("Python", { exact: true }).click();
    await expect(section.getByText("urllib.request.Request(")).toBeVisible();
    await page.getByLabel("Search the documents").fill("balance_unavailable");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("status")).toContainText("for “balance_unavailable”");
    await expect(page.getByLabel("Search the documents")).toHaveValue("balance_unavailable");
    await page.locator(".hits").getByRole("link", { name: "balance_unavailable", exact: true }).click();
    await expect(page.locator(":target")).toContainText("Try again shortly.");
  });
});

test("a document prints its text and all samples, and no controls", async ({ page }) => {
  await page.goto("/docs/client");
  await page.emulateMedia({ media: "print" });
  for (const gone of [".contents", ".sections", ".copy", ".foot nav", ".tabs label"]) {
    await expect(page.locator(gone).first(), gone).toBeHidden();
  }
  for (const shown of ["class CompanyGate:", "actor CompanyGate", "What each answer means"]) {
    await expect(page.getByText(shown).first()).toBeVisible();
  }
});
