import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContext, chromium as browserType, expect } from "@playwright/test";
import { chromium } from "@/playwright.config";
import { createFolder } from "@/tests/support/leash";
import { codeTo, mailsTo } from "@/tests/support/mailbox";
import { newEmail, test, typeCode } from "./support/office";

/* A person who blocks cookies in the settings of their browser. */

let context: BrowserContext;

test.beforeAll(async () => {
  const folder = createFolder("file");
  const settings = { profile: { default_content_setting_values: { cookies: 2 } } };
  mkdirSync(join(folder, "Default"));
  writeFileSync(join(folder, "Default", "Preferences"), JSON.stringify(settings));
  context = await browserType.launchPersistentContext(folder, chromium);
});
test.afterAll(() => context.close());

const needsCookies = "This needs cookies. Your browser blocks ours";

test("a browser that blocks cookies is told so, and no code is mailed", async ({ office: { service } }) => {
  const email = newEmail("blocked");
  await service.adminJson("account", "add", email);
  const page = await context.newPage();
  await page.goto(`${service.url}/sign-in`);
  for (let attempt = 0; attempt < 2; attempt++) {
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Send me a code" }).click();
    await expect(page.getByRole("alert")).toContainText(needsCookies);
  }
  const mails = await mailsTo(service.dataDir, email);
  expect(mails.filter(({ subject = "" }) => subject.includes("code"))).toEqual([]);
});

test("a browser that blocks cookies accepts no invitation", async ({ page, office: { service } }) => {
  const email = newEmail("blocked");
  const { url } = await service.adminJson<{ url: string }>("invite", email, "--plan", "licensed");
  const blocked = await context.newPage();
  await blocked.goto(url);
  await blocked.getByLabel("Email").fill(email);
  await blocked.getByRole("button", { name: "Accept the invitation" }).click();
  await expect(blocked.getByRole("alert")).toContainText(needsCookies);
  await page.goto(url);
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await typeCode(page, await codeTo(service.dataDir, email));
  await expect(page).toHaveURL("/home");
});

test("a browser that blocks cookies is told so where a device's code is typed", async ({
  office: { service },
}) => {
  const page = await context.newPage();
  await page.goto(`${service.url}/connect`);
  await page.getByLabel("Code").fill("BBBB-BBBB");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByRole("alert").filter({ hasText: needsCookies })).toBeVisible();
});
