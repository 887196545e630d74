import { expect, test } from "@playwright/test";
import { newEmail, openAccount } from "./support/office";
import { startShop } from "./support/shop";

test.use({ javaScriptEnabled: false });

test("without scripts an owner buys a licence, the back button buys no second one, and our policy lets the browser to Stripe", async ({
  page,
}) => {
  const { stripe, service, stop } = await startShop();
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
    await expect(page.getByText("You already have a plan, so nothing was bought.")).toBeVisible();
  }
  expect(stripe.subscriptions.size).toBe(1);
  expect(violations).toEqual([]);
  await stop();
});

test("without scripts an owner chooses between a month and a year, and sees first how they pay", async ({
  page,
}) => {
  const { stripe, service, stop } = await startShop();
  const yearly = stripe.prices.get("price_team");
  if (!yearly) throw new Error("no price of a year");
  stripe.prices.set("price_year", { ...yearly, id: "price_year", unit_amount: 49_000, nickname: null });
  const prices = ["--price", "price_month", "--price", "price_year"];
  await service.adminJson("plan", "set", "office-licence", "--title", "Office", ...prices);
  const email = newEmail("chooser");
  await openAccount(page, service, email, "--trial-ends", "2026-01-01");
  // A page does not wait long for prices that Stripe has not said yet.
  await expect(async () => {
    await page.goto(`${service.url}/home/billing`);
    await expect(page.getByText("Price shown at checkout")).toHaveCount(0);
  }).toPass();
  const [monthly, year] = [page.getByLabel("Monthly"), page.getByLabel("Yearly")];
  const buttons = page.getByRole("button", { name: /^Buy / });
  const team = "Buy Team licence for €990 a year"; // that plan has no price a month, so its price stays
  const expectSold = async (office: string) => {
    await expect(buttons).toHaveCount(2);
    for (const name of [office, team]) await expect(page.getByRole("button", { name })).toBeVisible();
  };
  await expect(monthly).toBeChecked();
  await expectSold("Buy Office for €49 a month");
  await page.getByText("Yearly, 2 months free", { exact: true }).click();
  await expectSold("Buy Office for €490 a year");
  await page.keyboard.press("ArrowLeft");
  await expect(monthly).toBeChecked();
  await expectSold("Buy Office for €49 a month");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("button", { name: "Buy Office for €490 a year" }).click();
  await page.getByRole("button", { name: "Pay" }).click();
  await page.waitForURL(`${service.url}/home/billing?checkout=bought`);
  await expect(page.getByText("Visa ending in 4242, expires 08/27")).toBeVisible();
  await expect(year).toBeChecked();
  await stop();
});
