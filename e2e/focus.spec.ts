import { expect } from "@playwright/test";
import { Browser } from "@/tests/support/browser";
import { authorizePath, redirectUri } from "@/tests/support/oauth-libraries";
import { newEmail, openAccount, test } from "./support/office";

/* The keyboard's focus stays where the reader was. */

test("ending a session leads the focus to what happened", async ({ page, office: { service } }) => {
  const email = newEmail("focus");
  await openAccount(page, service, email, "--plan", "licensed");
  await Browser.signIn(service, email);
  await page.goto("/home/access");
  await page.locator(".session summary").last().focus();
  await page.keyboard.press("Enter");
  await page
    .getByRole("button", { name: /^Sign out “/ })
    .first()
    .focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Disconnected. It no longer has access.")).toBeFocused();
});

test("the answer to an app, in view on a small phone, covers nothing that has the focus", async ({
  page,
  office: { service },
}) => {
  await openAccount(page, service, newEmail("covered"), "--plan", "licensed");
  await page.setViewportSize({ width: 320, height: 568 });
  await page.goto(authorizePath("native", redirectUri));
  await expect(page.getByRole("button", { name: "Approve" })).toBeInViewport({ ratio: 1 });
  await page.getByRole("link", { name: "Software licence" }).focus();
  for (let steps = 0; steps < 20; steps++) {
    await page.keyboard.press("Shift+Tab");
    const isCovered = await page.evaluate(() => {
      const focused = document.activeElement;
      const answer = document.querySelector(".answer")?.getBoundingClientRect();
      if (!focused || !answer || focused.closest(".answer") || focused === document.body) return false;
      const { top, bottom } = focused.getBoundingClientRect();
      return top < answer.bottom && bottom > answer.top;
    });
    expect(isCovered, `after ${steps} steps`).toBe(false);
  }
});

test("the answer to a device is below its warning, which is read first", async ({
  page,
  office: { service },
}) => {
  await openAccount(page, service, newEmail("device"), "--plan", "licensed");
  await page.setViewportSize({ width: 320, height: 568 });
  const form = { client_id: "native", scope: "account:read" };
  const asked = await (await page.request.post("/oauth/device", { form })).json();
  await page.goto("/connect");
  await page.getByLabel("Code").fill(asked.user_code);
  await page.getByRole("button", { name: "Continue" }).click();
  const approve = page.getByRole("button", { name: "Approve" });
  await expect(approve).not.toBeInViewport();
  await approve.scrollIntoViewIfNeeded();
  const warning = await page.getByText("Approve only if you have just started this").boundingBox();
  const button = await approve.boundingBox();
  expect(button?.y).toBeGreaterThan((warning?.y ?? 0) + (warning?.height ?? 0));
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
