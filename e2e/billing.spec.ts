import { expect, test } from "@playwright/test";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { StripeStandIn } from "@/tests/support/stripe-stand-in";
import { newEmail, openAccount } from "./support/office";

test.use({ javaScriptEnabled: false });

test("without scripts an owner buys a licence, the back button buys no second one, and our policy lets the browser to Stripe", async ({
  page,
}) => {
  const stripe = await StripeStandIn.start();
  const PORT = String(await reservePort());
  const address = { PORT, APP_URL: `http://localhost:${PORT}` };
  const service = await Service.start({ ...stripe.environment, ...address, SIGN_IN: "local" });
  await openAccount(page, service, newEmail("buyer"), "--trial-ends", "2026-01-01");
  const violations: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) violations.push(message.text());
  });
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
  expect(stripe.subscriptions.size).toBe(1);
  expect(violations).toEqual([]);
  await service.stop();
  await stripe.stop();
});
