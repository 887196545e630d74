import { expect } from "@playwright/test";
import { expectAccessible } from "./support/axe";
import { newEmail, test } from "./support/office";

/** Page states that a query parameter selects; the pages themselves are in `every-page.spec.ts`. */
const states = [
  "/waitlist?problem=email",
  "/waitlist?joined",
  "/sign-in?problem=expired",
  "/invitation?token=x",
  "/unsubscribe?token=x",
];

test("axe finds no violation in the messages about a problem or after a form", async ({ page }) => {
  for (const path of states) {
    await page.goto(path);
    await expectAccessible(page);
  }
});

test("sign-in works with the keyboard alone", async ({ page, office: { service } }) => {
  const email = newEmail("keys");
  await service.adminJson("account", "add", email);
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.goto("/sign-in");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.keyboard.type(email);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Enter the code");
});
