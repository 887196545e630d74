import { execFileSync } from "node:child_process";
import { expect, test } from "@playwright/test";
import { environment } from "../playwright.config";

/** Runs an operator's command beside the server, and answers its JSON document. */
function admin(...args: string[]) {
  const env = { ...process.env, ...environment };
  return JSON.parse(
    execFileSync("node", ["dist/admin/main.js", "--json", ...args], { env, encoding: "utf8" }),
  );
}

for (const javaScriptEnabled of [true, false]) {
  test(`one button stops the emails, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({
    browser,
    baseURL,
  }) => {
    const email = `reader-${javaScriptEnabled}@example.com`;
    admin("account", "add", email);
    const { search } = new URL(admin("emails", "unsubscribe-link", email).url);
    const context = await browser.newContext({ javaScriptEnabled, ...(baseURL ? { baseURL } : {}) });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${baseURL}/`)) faults.push(request.url());
      if (request.headers().referer) faults.push(`a Referer to ${request.url()}`);
    });
    await page.goto(`/unsubscribe${search}`, { waitUntil: "networkidle" });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Stop the onboarding emails?");
    const posted = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Stop these emails" }).click();
    expect(await (await posted).headerValue("origin")).toBe("null");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("The onboarding emails are stopped");
    expect(faults).toEqual([]);
    const states = admin("emails", "list", email).map(({ state }: { state: string }) => state);
    expect(states.slice(1)).toEqual(Array(4).fill("stopped"));
    await context.close();
  });
}

test("a link that is not ours says so", async ({ page }) => {
  await page.goto("/unsubscribe?token=v1.acc_x.y");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("This link does not work");
  await expect(page.getByRole("button")).toHaveCount(0);
});
