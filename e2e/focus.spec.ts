import { expect } from "@playwright/test";
import { Browser } from "@/tests/support/browser";
import { newEmail, openAccount, test } from "./support/office";

/* The keyboard's focus stays where the reader was. */

test("ending a session leads the focus to what happened", async ({ page, office: { service } }) => {
  const email = newEmail("focus");
  await openAccount(page, service, email, "--plan", "licensed");
  await Browser.signIn(service, email);
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
