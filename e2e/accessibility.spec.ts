import { expect } from "@playwright/test";
import { codeTo } from "@/tests/support/mailbox";
import { expectAccessible } from "./support/axe";
import { newEmail, test, typeCode } from "./support/office";

/** States of pages that their addresses name; the pages themselves are in `every-page.spec.ts`. */
const states = [
  "/waitlist?problem=email",
  "/waitlist?joined",
  "/sign-in?problem=over",
  "/invitation?token=x",
  "/unsubscribe?token=x",
];

for (const path of states) {
  test(`axe finds nothing wrong on ${path}`, async ({ page }) => {
    await page.goto(path);
    await expectAccessible(page);
  });
}

test("axe finds nothing wrong on the way in and on the CEO's page", async ({ page, office: { service } }) => {
  const email = newEmail("axe");
  await page.goto((await service.adminJson<{ url: string }>("invite", email)).url);
  await expectAccessible(page);
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button").click();
  await expect(page.getByLabel("Code")).toBeVisible();
  await expectAccessible(page);
  await typeCode(page, await codeTo(service.dataDir, email));
  await page.waitForURL("/home");
  await expectAccessible(page);
});

test("the whole way in works with the keyboard alone", async ({ page, office: { service } }) => {
  const email = newEmail("keys");
  await service.adminJson("account", "add", email);
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.goto("/sign-in");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.keyboard.type(email);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Type the code");
});
