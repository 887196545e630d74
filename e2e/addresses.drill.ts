import { chromium as browserType, expect, test } from "@playwright/test";
import { chromium } from "@/playwright.config";
import { Service } from "@/tests/support/service";
import { expectAccessible } from "./support/axe";

test("a browser at another host gets a link to the same page at the right one", async () => {
  const service = await Service.start({ APP_URL: "https://office.example.com", SIGN_IN: "local" });
  const args = [...chromium.args, "--host-resolver-rules=MAP office.example.org 127.0.0.1"];
  const browser = await browserType.launch({ ...chromium, args });
  const page = await browser.newPage();
  const answer = await page.goto(`http://office.example.org:${service.port}/docs?x=<i>`);
  expect(answer?.status()).toBe(421);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("This page has another address");
  const link = page.getByRole("link", { name: "office.example.com" });
  await expect(link).toHaveAttribute("href", "https://office.example.com/docs?x=%3Ci%3E");
  await expectAccessible(page);
  await browser.close();
  await service.stop();
});
