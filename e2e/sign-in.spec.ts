import { expect, type Locator } from "@playwright/test";
import { codeTo, mailTo } from "@/tests/support/mailbox";
import { newEmail, test, typeCode } from "./support/office";

test("a wrong code is refused in words that a screen reader hears, next to the field", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("codes");
  await service.adminJson("account", "add", email);
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  const code = await codeTo(service.dataDir, email);
  await typeCode(page, code === "000000" ? "000001" : "000000");
  const alert = page.getByRole("alert").filter({ hasText: "That code is not correct" });
  await expect(alert).toContainText("4 more tries");
  await expect(page.getByLabel("Code")).toHaveAccessibleDescription(/That code is not correct/);
  await expect(page).toHaveTitle(/^That code is not correct\..* · Enter the code/);
  await expect(page.getByLabel("Code")).toBeFocused();
});

test("six digits are submitted automatically, however they are pasted, and another code can be requested", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("paste");
  await service.adminJson("account", "add", email, "--plan", "licensed");
  await page.clock.install();
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.goto("/sign-in");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.keyboard.type(email);
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Code")).toBeFocused();
  const again = page.getByRole("button", { name: /^Send again/ });
  await expect(again).toBeDisabled();
  await expect(async () => {
    await page.clock.runFor(31_000);
    await expect(again).toBeEnabled({ timeout: 1000 });
  }).toPass();
  const first = await codeTo(service.dataDir, email);
  await again.click();
  await expect(again).toBeDisabled();
  await expect.poll(() => codeTo(service.dataDir, email)).not.toBe(first);
  const code = await codeTo(service.dataDir, email);
  const fullWidth = code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  await page.getByLabel("Code").fill(` ${fullWidth.slice(0, 3)} － ${fullWidth.slice(3)}`);
  await expect(page).toHaveURL("/home");
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with scripts" : "without scripts", () => {
    test.use({ javaScriptEnabled });

    test("a whole mail can be pasted where a code is asked for", async ({ page, office: { service } }) => {
      const email = newEmail("sentence");
      await service.adminJson("account", "add", email, "--plan", "licensed");
      await page.goto("/sign-in");
      await page.getByLabel("Email").fill(email);
      await page.getByRole("button", { name: "Send me a code" }).click();
      await expect(page.getByLabel("Code")).toBeFocused();
      const { text = "" } = await mailTo(service.dataDir, email, /code/);
      if (javaScriptEnabled) {
        await page.keyboard.type("12");
        await paste(page.getByLabel("Code"), text);
      } else {
        await page.getByLabel("Code").fill(text.replaceAll("\n", ""));
        await page.keyboard.press("Enter");
      }
      await expect(page).toHaveURL("/home");
    });
  });
}

// alphagov/notifications-admin#1490: "clicked the button twice even though they think they only clicked it once".
test("a button that is pressed twice while the network is slow mails one code", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("twice");
  await service.adminJson("account", "add", email);
  await page.goto("/sign-in");
  const send = page.getByRole("button", { name: "Send me a code" });
  await page.getByLabel("Email").fill("no email");
  await send.click(); // from now on this browser has shown that it keeps cookies
  await expect(page.getByRole("alert")).toBeVisible();
  let posts = 0;
  const held = Promise.withResolvers<void>();
  await page.route("**/sign-in/send", async (route) => {
    posts += 1;
    await held.promise;
    await route.continue();
  });
  await page.getByLabel("Email").fill(email);
  await send.evaluate(async (button: HTMLElement) => {
    button.click();
    await new Promise((then) => setTimeout(then, 200));
    button.click();
  });
  held.resolve();
  await expect(page.getByLabel("Code")).toBeFocused();
  expect(posts).toBe(1);
  await page.goBack();
  await page.getByLabel("Email").fill(email);
  await send.click();
  await expect(page.getByLabel("Code")).toBeFocused();
  expect(posts, "after going back").toBe(2);
});

/** Pastes a text as a clipboard brings it; the test's browser has none. */
const paste = (field: Locator, text: string) =>
  field.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
