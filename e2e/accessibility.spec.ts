import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { type Page as Entry, pages } from "@/lib/api/pages";
import { admin, codeFor, newEmail, test } from "./support/office";

/** Everything that axe calls serious or worse; every rule of WCAG 2.2 AA and its best practices. */
async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
}

const publicPages = [
  ...Object.values<Entry>(pages)
    .filter(({ access }) => access !== "session")
    .map(({ path }) => path),
  "/waitlist?problem=email",
  "/waitlist?joined",
  "/sign-in?problem=over",
  "/invitation?token=x",
];

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme });

    for (const path of publicPages) {
      test(`axe finds nothing serious on ${path}`, async ({ page }) => {
        await page.goto(path);
        await expectAccessible(page);
      });
    }

    test("axe finds nothing serious on the way in and on the CEO's page", async ({ page }) => {
      const email = newEmail("axe");
      await page.goto(admin<{ url: string }>("invite", email).url);
      await expectAccessible(page);
      await page.getByLabel("Email").fill(email);
      await page.getByRole("button").click();
      await expect(page.getByLabel("Code")).toBeVisible();
      await expectAccessible(page);
      await page.getByLabel("Code").fill(await codeFor(email));
      await page.getByRole("button").click();
      await page.waitForURL("/home");
      await expectAccessible(page);
    });
  });
}

test("the whole way in works with the keyboard alone", async ({ page }) => {
  const email = newEmail("keys");
  admin("account", "add", email);
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.goto("/sign-in");
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press("Tab");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.keyboard.type(email);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Type the code");
});
