import { expect, test } from "@playwright/test";
import { Browser } from "@/tests/support/browser";
import { sessionIn } from "@/tests/support/shop";
import { expectAccessible } from "./support/axe";
import { newEmail, openAccount } from "./support/office";
import { startShop } from "./support/shop";

test("plans with prices are accessible in both themes and on phones, for visitors, buyers and who changes one", async ({
  page,
}) => {
  const { stripe, service, stop } = await startShop();
  await service.adminJson(
    ...["plan", "set", "office-licence", "--description", "For a company that works every day."],
    ...["--feature", "voice=Voice notes", "--limit", "projects=20", "--credits", "500"],
  );
  const long = "Donaudampfschifffahrtsgesellschaft".repeat(4);
  await service.adminJson("plan", "set", "team-licence", "--description", long, "--feature", `long=${long}`);
  await page.goto(service.url);
  await expect(page.getByText("that is €82.50 a month")).toBeVisible();
  await expectAccessible(page);
  const email = newEmail("plans");
  await openAccount(page, service, email, "--trial-days", "9");
  await page.goto(`${service.url}/home/billing`);
  await expect(page.getByRole("button", { name: "Buy Office licence for €49 a month" })).toBeVisible();
  await expectAccessible(page);
  const { id } = await service.adminJson<{ id: string }>("account", "show", email);
  const owner = await Browser.signIn(service, email);
  stripe.pay(sessionIn(await owner.submit("/home/checkout", { account: id, licence: "price_month" })));
  await service.adminJson("billing", "reconcile", email);
  await page.goto(`${service.url}/home/billing`);
  await page.getByRole("link", { name: "Change to Team licence for €990 a year" }).click();
  await expect(page.getByRole("heading", { name: "Change to Team licence" })).toBeVisible();
  await expectAccessible(page);
  await stop();
});
