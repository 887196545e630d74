import { expect } from "@playwright/test";
import { test } from "./support/office";

const pages = [["/", "Run a company of AI assistants"]] as const;

for (const [address, heading] of pages) {
  test(`${address} opens, with no error and no request to elsewhere`, async ({ page, baseURL }) => {
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("request", (request) => !request.url().startsWith(`${baseURL}/`) && faults.push(request.url()));
    await page.goto(address, { waitUntil: "networkidle" });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    expect(faults).toEqual([]);
  });
}

test("an error's docs address opens at its code, without JavaScript as well", async ({
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

test("the policy link of an answer opens", async ({ page, request }) => {
  const link = (await request.get("/api/health")).headers().link ?? "";
  await page.goto(/<([^>]+)>/.exec(link)?.[1] ?? "");
  await expect(page.getByText("No public operation is currently deprecated.")).toBeVisible();
});
