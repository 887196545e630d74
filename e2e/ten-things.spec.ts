import { expect, type Locator, type Page } from "@playwright/test";
import { Browser } from "@/tests/support/browser";
import { makeApp } from "@/tests/support/oauth-libraries";
import { connectApp } from "@/tests/support/owner";
import { newEmail, openAccount, test } from "./support/office";

/*
 * What owners look for, and where a person who has never seen the pages finds it: by at most two clicks from home on words
 * that name it.
 */

type Thing = [what: string, clicks: string[], found: (page: Page) => Locator];

const things: Thing[] = [
  ["whether the company may run", [], (page) => page.getByRole("heading", { name: "Your trial is active" })],
  ["until when", [], (page) => page.getByText(/days left/)],
  ["how many credits are left", [], (page) => page.locator("#credits + p")],
  ["what used credits", ["See history"], (page) => page.getByText("Weekly summary")],
  ["what it costs", ["Billing"], (page) => page.getByRole("heading", { name: "Your plan" })],
  ["how many assistants it includes", [], (page) => page.getByText(/^Up to \d+ assistants/)],
  ["how to connect Claude", ["Connect an app", "Claude Code"], (page) => page.getByText("claude mcp add")],
  ["which browsers are signed in", ["Access"], (page) => page.getByText("This browser", { exact: true })],
  ["a token for a program", ["Access", "For developers"], (page) => page.getByText("Copy a token")],
  ["a passkey", ["Access"], (page) => page.getByRole("heading", { name: "Ways to sign in" })],
  [
    "how to leave",
    ["Account", "Delete my account"],
    (page) => page.getByRole("button", { name: "Delete in 24 hours" }),
  ],
  ["the data that is kept", ["Account"], (page) => page.getByRole("button", { name: "Download your data" })],
];

const terms = ["--trial-days", "9", "--assistant-limit", "3", "--credits", "10"];

test("an owner finds each of these with at most two clicks", async ({ page, office: { service } }) => {
  const email = newEmail("finds");
  await openAccount(page, service, email, ...terms);
  await service.adminJson("credits", "add", email, "-1", "--reason", "Weekly summary");
  for (const [what, clicks, found] of things) {
    await test.step(what, async () => {
      await page.goto("/home");
      expect(clicks.length).toBeLessThanOrEqual(2);
      for (const words of clicks)
        await page.locator(":is(header, main) :is(a, button, summary)", { hasText: words }).first().click();
      await expect(found(page)).toBeVisible();
    });
  }
});

test("access is at most 1,200 px high on a desktop and 2,000 on a phone, with two apps and three browsers", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("many");
  await openAccount(page, service, email, ...terms);
  const owner = await Browser.signIn(service, email);
  await Browser.signIn(service, email);
  const app = await makeApp(service);
  for (let apps = 0; apps < 2; apps++) await connectApp(app, owner, service);
  for (const [width, height, most] of [
    [1280, 800, 1200],
    [390, 844, 2000],
    [320, 568, 2600],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto("/home/access");
    await expect(page.locator(".session")).toHaveCount(5);
    const { scrollHeight, scrollWidth } = await page.evaluate(() => {
      const { scrollHeight, scrollWidth } = document.documentElement;
      return { scrollHeight, scrollWidth };
    });
    expect(scrollHeight, `at ${width} px`).toBeLessThanOrEqual(most);
    expect(scrollWidth).toBeLessThanOrEqual(width);
  }
});

test("each of an ordinary owner's pages is at most 1,200 px high on a desktop, and scrolls no other way", async ({
  page,
  office: { service },
}) => {
  await openAccount(page, service, newEmail("height"), ...terms);
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const path of ["/home", "/home/billing", "/home/access", "/home/account"]) {
    await page.goto(path);
    const [height, width] = await page.evaluate(() => {
      const { scrollHeight, scrollWidth } = document.documentElement;
      return [scrollHeight, scrollWidth];
    });
    expect(height, path).toBeLessThanOrEqual(1200);
    expect(width, path).toBeLessThanOrEqual(1280);
  }
});
