import { expect } from "@playwright/test";
import { test } from "./support/office";

test("an error's docs address opens at its code, with and without JavaScript", async ({
  browser,
  request,
  baseURL,
}) => {
  const { error } = await (await request.get("/api/nothing-here")).json();
  const context = await browser.newContext({ javaScriptEnabled: false, ...(baseURL ? { baseURL } : {}) });
  const page = await context.newPage();
  await page.goto(error.docs);
  const section = page.locator(":target");
  await expect(section.getByRole("heading")).toHaveText("not_found");
  await expect(section).toContainText(error.hint);
  await context.close();
});

test("the policy link of a response opens", async ({ page, request }) => {
  const link = (await request.get("/api/health")).headers().link ?? "";
  await page.goto(/<([^>]+)>/.exec(link)?.[1] ?? "");
  await expect(page.getByText("No public operation is currently deprecated.")).toBeVisible();
});
