import { expect, type Page } from "@playwright/test";
import { startApp } from "@/tests/support/listening-app";
import { codeTo } from "@/tests/support/mailbox";
import { newEmail, test, typeCode } from "./support/office";

/* An owner connects an app in a real browser; the app is openid-client, which knows only our address. */

const heading = (page: Page) => page.getByRole("heading", { level: 1 });

test("an owner signs in, sees which app asks, approves it, and disconnects it later", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("connect");
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const app = await startApp(service);
  await page.goto(app.address);
  await expect(page).toHaveURL(/\/connect\?request=/);
  await expect(heading(page)).toHaveText("Connect a program?");
  await expect(page.getByText("A program on this computer is asking for access")).toBeVisible();
  await expect(page.getByRole("button", { name: "Approve" })).toHaveCount(0);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await expect(heading(page)).toHaveText("Enter the code");
  await typeCode(page, await codeTo(service.dataDir, email));
  await expect(page).toHaveURL("/connect");
  await expect(page.getByText(`Signed in as ${email}.`)).toBeVisible();
  await expect(page.getByText("See whether your assistants may run, and your credits")).toBeVisible();
  const [approve, decline] = [
    page.getByRole("button", { name: "Approve" }),
    page.getByRole("button", { name: "Decline" }),
  ];
  const look = (button: typeof approve) =>
    button.evaluate((element) => {
      const { color, backgroundColor, fontSize, fontWeight, height } = getComputedStyle(element);
      return { color, backgroundColor, fontSize, fontWeight, height };
    });
  expect(await look(approve), "of equal weight").toEqual(await look(decline));
  await approve.click();
  await expect(heading(page)).toHaveText("You can close this page");
  const { access_token } = await app.finish();
  expect(await service.statusFor(access_token)).toBe(200);

  await page.goto("/home/access");
  const row = page.getByRole("listitem").filter({ hasText: "A program on " });
  await row.locator("summary").click();
  await row.getByRole("button", { name: /^Disconnect/ }).click();
  await expect(page).toHaveURL(/ended/);
  expect(await service.statusFor(access_token)).toBe(401);
});
