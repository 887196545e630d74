import { expect } from "@playwright/test";
import { Browser } from "@/tests/support/browser";
import { newEmail, settle, signIn, test } from "./support/office";

/* The keyboard's focus stays where the reader was. */

test("running an operation keeps the focus on its button", async ({ page }) => {
  await page.goto("/docs/api/site-banner");
  await settle(page);
  const run = page.getByRole("button", { name: "Run it here" });
  const result = page.getByRole("complementary", { name: "The request" }).getByRole("status");
  await run.focus();
  for (let press = 0; press < 2; press++) {
    await page.keyboard.press("Enter");
    await expect(result).toContainText("This service answered 200");
    await expect(run).toBeFocused();
  }
});

test("ending a session leads the focus to what happened", async ({ page, office }) => {
  const email = newEmail("focus");
  await office.service.adminJson("account", "add", email, "--plan", "licensed");
  await Browser.signIn(office.service, email);
  await signIn(page, office, email);
  await page.goto("/home/access");
  await page
    .getByRole("button", { name: /^End “/ })
    .first()
    .focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Disconnected. It no longer has access.")).toBeFocused();
});

test("dismissing a notice leaves the keyboard at the beginning of the content", async ({
  page,
  office: { service, passTime },
}) => {
  await service.adminJson("banner", "set", "warning", "Closed on Friday");
  passTime(15_000); // the lifetime of the service's cached banner
  await expect(async () => {
    await page.goto("/docs/search?q=token");
    await page.getByRole("button", { name: "Dismiss this notice" }).focus({ timeout: 1000 });
  }).toPass();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: "Notice" })).toHaveCount(0);
  await expect(page).toHaveURL("/docs/search?q=token#main");
  expect(await page.evaluate(() => scrollY)).toBe(0);
  await page.keyboard.press("Tab");
  await expect(page.locator("#main :focus")).toHaveCount(1);
  await service.adminJson("banner", "clear");
  passTime(15_000);
});

test("the palette announces how many results it lists", async ({ page }) => {
  await page.goto("/docs");
  await settle(page);
  await page.keyboard.press("/");
  const palette = page.getByRole("dialog", { name: "Search the documents" });
  await page.keyboard.type("trial_ended");
  const options = palette.getByRole("option");
  await expect(palette.getByRole("status")).toHaveText(/^\d+ results?$/);
  const [count] = /^\d+/.exec((await palette.getByRole("status").textContent()) ?? "") ?? [];
  await expect(options).toHaveCount(Number(count));
});
