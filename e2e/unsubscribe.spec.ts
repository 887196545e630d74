import { expect } from "@playwright/test";
import { newEmail, test } from "./support/office";

test("one button stops the emails, and the browser tells no one where it was pressed", async ({
  page,
  baseURL,
  office: { service },
}) => {
  const email = newEmail("reader");
  await service.adminJson("account", "add", email);
  const path = (await service.unsubscribePath(email)).replace("/api/email", "");
  const faults: string[] = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${baseURL}/`)) faults.push(request.url());
    if (request.headers().referer) faults.push(`a Referer to ${request.url()}`);
  });
  await page.goto(path, { waitUntil: "networkidle" });
  const posted = page.waitForRequest((request) => request.method() === "POST");
  await page.getByRole("button", { name: "Stop these emails" }).click();
  expect(await (await posted).headerValue("origin")).toBe("null");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The onboarding emails are stopped");
  expect(faults).toEqual([]);
});
