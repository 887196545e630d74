import { expect } from "@playwright/test";
import { newEmail, test } from "./support/office";

for (const javaScriptEnabled of [true, false]) {
  test(`one button stops the emails, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async ({
    browser,
    baseURL,
    office: { service },
  }) => {
    const email = newEmail("reader");
    await service.adminJson("account", "add", email);
    const link = await service.adminJson<{ url: string }>("emails", "unsubscribe-link", email);
    const { search } = new URL(link.url);
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
    await page.goto(`/unsubscribe${search}`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(
      "The onboarding emails are already stopped",
    );
    await expect(page.getByRole("button")).toHaveCount(0);
    expect(faults).toEqual([]);
    const mails = await service.adminJson<{ state: string }[]>("emails", "list", email);
    expect(mails.slice(1).map(({ state }) => state)).toEqual(Array(4).fill("stopped"));
    await context.close();
  });
}
