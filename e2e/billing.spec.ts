import { expect, type Page, test } from "@playwright/test";
import { dayMs } from "@/lib/config/durations";
import { makeClock } from "@/tests/support/clock";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import { newEmail, signIn } from "./support/office";

/** A separate service, because it sells at a fake Stripe. Its webhook hears nothing unless a test delivers. */
let service: Service;
let stripe: StripeStandIn;
const clock = makeClock();

test.beforeAll(async () => {
  stripe = await StripeStandIn.start();
  const port = await reservePort();
  service = await Service.start({
    ...stripe.environment,
    ...clock.environment,
    SIGN_IN: "local",
    PORT: String(port),
    APP_URL: `http://localhost:${port}`,
    TRUSTED_PROXY_HOPS: "1",
    LOG_LEVEL: "warn",
  });
});
test.afterAll(async () => {
  await service.stop();
  await stripe.stop();
});

/** Signs in as an owner whose trial has ended, and returns what the API says to a program of that owner. */
async function comeHome(page: Page, from: string) {
  const email = newEmail("buyer");
  await service.adminJson("account", "add", email, "--trial-ends", "2026-01-01");
  await page.setExtraHTTPHeaders({ "X-Forwarded-For": from });
  await signIn(page, { service }, email);
  const violations: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) violations.push(message.text());
  });
  const status = async () => {
    const headers = { authorization: `Bearer ${await service.token(email)}` };
    return JSON.parse((await service.ask("/api/entitlement", { headers })).text).status;
  };
  return { status, violations };
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with scripts" : "without scripts", () => {
    test.use({ javaScriptEnabled });

    test("an owner whose trial has ended buys, is licensed at once, cancels, and keeps what was paid", async ({
      page,
    }) => {
      const { status, violations } = await comeHome(page, javaScriptEnabled ? "203.0.113.1" : "203.0.113.2");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your trial has ended");
      await page.getByRole("link", { name: "Choose a licence" }).click();
      await expect(page.getByText("€49.00 a month")).toBeVisible();
      expect(await status()).toBe("trial-ended");

      await page.getByRole("button", { name: "Buy Office licence" }).click();
      await page.getByRole("link", { name: "Back" }).click();
      await page.waitForURL(`${service.url}/home/billing?checkout=cancelled`);
      await expect(page.getByText("Nothing was bought, and nothing has changed.")).toBeVisible();
      expect(await status()).toBe("trial-ended");

      await page.getByRole("button", { name: "Buy Office licence" }).click();
      await page.getByRole("button", { name: "Pay" }).click();
      await page.waitForURL(`${service.url}/home/billing?checkout=bought`);
      expect(await status(), "no webhook was delivered").toBe("licensed");
      await expect(page.getByText("Your purchase is complete.")).toBeVisible();
      await expect(page.getByText("Renews on")).toBeVisible();
      await expect(page.getByRole("button", { name: "Buy Office licence" })).toHaveCount(0);

      await page.getByRole("button", { name: "Buy 500 credits" }).click();
      await page.getByRole("button", { name: "Pay" }).click();
      await page.waitForURL(`${service.url}/home/billing?checkout=bought`);
      await expect(page.locator(".credits").getByRole("definition")).toHaveText(["500"]);
      await expect(page.locator(".entries li").first()).toContainText("bought");

      await page.getByRole("button", { name: "Manage billing" }).click();
      await page.getByRole("button", { name: "Cancel plan" }).click();
      await page.waitForURL(`${service.url}/home/billing`);
      await deliverAll();
      await page.reload();
      await expect(page.getByText("It is cancelled and ends on")).toBeVisible();
      expect(await status(), "until the end of the period").toBe("licensed");
      expect(violations).toEqual([]);

      clock.pass(31 * dayMs);
      for (const [id, { status }] of stripe.subscriptions) if (status === "active") stripe.end(id);
      await service.adminJson("billing", "reconcile");
      expect(await status()).toBe("trial-ended");
      clock.pass(-31 * dayMs);
    });
  });
}

test("the back button after buying leads to no second purchase", async ({ page }) => {
  await comeHome(page, "203.0.113.3");
  const before = stripe.subscriptions.size;
  await page.goto(`${service.url}/home/billing`);
  await page.getByRole("button", { name: "Buy Office licence" }).click();
  await page.getByRole("button", { name: "Pay" }).click();
  await page.waitForURL(`${service.url}/home/billing?checkout=bought`);
  await page.goBack();
  await expect(page.getByText("This checkout is closed.")).toBeVisible();
  await page.goBack();
  // A button on the page before, if the browser still shows one, must not buy again.
  const buy = page.getByRole("button", { name: "Buy Office licence" });
  if ((await buy.count()) > 0) {
    await buy.click();
    await page.waitForURL(`${service.url}/home/billing?checkout=licensed`);
    await expect(page.getByText("You already have a licence, so nothing was bought.")).toBeVisible();
  }
  expect(stripe.subscriptions.size - before).toBe(1);
});

async function deliverAll(): Promise<void> {
  for (const event of stripe.takeEvents()) {
    expect((await stripe.deliver(service, event)).status).toBe(200);
  }
}
