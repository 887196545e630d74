import { test as base, expect, type Page } from "@playwright/test";
import { makeClock } from "@/tests/support/clock";
import { startWithOffice } from "@/tests/support/office-browser";
import { type Price, StripeStandIn } from "@/tests/support/stripe-stand-in";
import { giveAuthenticator } from "./support/authenticator";
import { expectAccessible } from "./support/axe";
import { newEmail, type Office } from "./support/office";
import { perWorker } from "./support/per-worker";

/* The operators' office in a browser: passkeys need a script, everything else works without. */

const test = base.extend<object, { office: Office & { url: string } }>({
  office: perWorker(async (use) => {
    const clock = makeClock();
    const service = await startWithOffice({ SIGN_IN: "local", LOG_LEVEL: "warn", ...clock.environment });
    await use({ service, passTime: clock.pass, url: `http://localhost:${service.environment.OFFICE_PORT}` });
    await service.stop();
  }),
  baseURL: async ({ office }, use) => use(office.url),
});

let named = 0;

/** Enrols a new operator in this browser with a link from the shell. */
async function enrol(page: Page, { service }: Office, more = ""): Promise<{ name: string; url: string }> {
  const name = `op-${process.pid}-${named++}${more}`;
  await giveAuthenticator(page);
  const { url } = await service.adminJson<{ url: string }>("operator", "add", name);
  await page.goto(url);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByRole("heading", { name: "Today" })).toBeVisible();
  return { name, url };
}

async function addAccount({ service }: Office, ...options: string[]): Promise<string> {
  const email = newEmail("ceo");
  await service.adminJson("account", "add", email, ...options);
  return email;
}

test("an operator enrols with a link, which works once, signs out, and signs in again", async ({
  page,
  office,
}) => {
  const { name, url } = await enrol(page, office);
  await page.goto(url.replace("#", "?#"));
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByRole("status")).toHaveText(
    "This link was used, was replaced by a newer one, or is more than 15 minutes old.",
  );
  await page.goto("/today");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto("/audit?what=operator+sign-in");
  await page.getByRole("button", { name: "Use your passkey" }).click();
  await expect(page).toHaveURL(/\/audit\?what=operator\+sign-in$/);
  await expect(page.getByText(`Operator ${name} signed in as the operator ${name}`).first()).toBeVisible();
});

test("every page is accessible, in both themes and on a phone", async ({ page, office }) => {
  await enrol(page, office);
  const receiver = "https://systems.example.com/all/that-happens/to-accounts";
  const { id: webhook } = await office.service.adminJson<{ id: string }>("webhook", "add", receiver);
  const email = await addAccount(office, "--trial-days", "3", "--credits", "12.5");
  await office.service.token(email);
  await office.service.submit("/waitlist/join", { email: newEmail("waits") });
  await office.service.adminJson("banner", "set", "warning", "Back at noon");
  for (const path of [
    "/today",
    "/accounts",
    `/account?email=${email}`,
    "/account?email=stranger@example.com",
    "/waiting",
    "/mails",
    "/announcement",
    "/audit",
    "/backends",
    "/plans",
    "/plans?plan=hobby",
    `/webhooks?webhook=${webhook}`,
    "/commands",
    "/enter",
    "/enrol",
    "/nowhere",
  ]) {
    await page.goto(path);
    await expectAccessible(page);
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide, `${path} at ${width} pixels`).toBeLessThanOrEqual(0);
    }
  }
});

test("an account's changes keep their width next to a long name", async ({ page, office }) => {
  await enrol(page, office, "-of-the-office-in-the-north");
  const email = await addAccount(office, "--plan", "hobby");
  await page.goto(`/account?email=${email}`);
  await page.locator("summary", { hasText: "Change the balance" }).click();
  await page.getByLabel("Credits to add").fill("7.5");
  await page.getByLabel("Reason").fill("for patience");
  await page.getByRole("button", { name: "Change the balance" }).click();
  await page.goto(`/audit?whom=${email}`);
  await page.setViewportSize({ width: 1000, height: 800 });
  const [changed] = await page.locator('td[data-column="Change"]').all();
  expect((await changed?.boundingBox())?.width).toBeGreaterThanOrEqual(320);
});

test("the list of customers keeps within a small window, and each short email is on one line", async ({
  page,
}) => {
  const stripe = await StripeStandIn.start();
  const dinar = { ...stripe.prices.get("price_month"), currency: "kwd", unit_amount: 15_550 };
  stripe.prices.set("price_month", dinar as Price);
  const service = await startWithOffice({ ...stripe.environment, SIGN_IN: "local" });
  const customer = stripe.addCustomer("ceo@example.com");
  await service.adminJson("account", "add", "ceo@example.com");
  const subscription = stripe.makeSubscription(customer.id, "price_month");
  stripe.itemOf(subscription).current_period_end = Math.floor(Date.now() / 1000);
  stripe.renew(subscription, { isPaid: false });
  await service.adminJson("billing", "reconcile");
  await enrol(page, { service, passTime: () => {} });
  await page.goto(`http://localhost:${service.environment.OFFICE_PORT}/customers`);
  const email = page.getByRole("link", { name: "ceo@example.com", exact: true });
  await expect(email).toBeVisible();
  for (const width of [961, 1000, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect((await email.boundingBox())?.height).toBeLessThan(30);
  }
  await service.stop();
  await stripe.stop();
});

test("a session that runs out in the middle of a form loses nothing that was typed", async ({
  page,
  office,
}) => {
  await enrol(page, office);
  const email = await addAccount(office, "--plan", "licensed");
  await page.goto(`/account?email=${email}`);
  await page.locator("summary", { hasText: "Change the balance" }).click();
  await page.getByLabel("Credits to add").fill("7.5");
  await page.getByLabel("Reason").fill("for “patience” & more");
  office.passTime(61 * 60_000);
  await page.getByRole("button", { name: "Change the balance" }).click();
  await expect(page.getByRole("heading", { name: "Your session has ended" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Confirm with passkey" }).click();
  await expect(page.getByRole("status")).toHaveText("The balance is changed.");
  await expect(page.getByRole("cell", { name: "Reason: for “patience” & more", exact: true })).toBeVisible();
});

test("the keyboard alone is enough", async ({ page, office }) => {
  await enrol(page, office);
  const email = await addAccount(office, "--trial-days", "3");
  await page.goto("/accounts");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // Skip to content
  await page.keyboard.press("Tab");
  await page.keyboard.type(email.slice(0, 20));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: email }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: email })).toBeVisible();
  await page.locator("summary", { hasText: "Change the balance" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.type("3");
  await page.keyboard.press("Tab");
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status")).toHaveText("The balance is changed.");
});

test("Ctrl K goes to the search, as `/` does in a table, where `j` and `k` walk the rows; elsewhere they are letters", async ({
  page,
  office,
}) => {
  await enrol(page, office);
  for (const first of ["a", "b"])
    await office.service.adminJson("account", "add", `walk-${first}@example.com`);
  await page.goto("/accounts?find=walk-");
  const rowOf = (first: string) => page.getByRole("link", { name: `walk-${first}@example.com` });
  const search = page.getByRole("searchbox");
  await page.getByRole("link", { name: "Accounts", exact: true }).focus();
  for (const key of ["/", "j", "k"]) await page.keyboard.press(key);
  await expect(page.getByRole("link", { name: "Accounts", exact: true })).toBeFocused();
  await page.keyboard.press("Control+k");
  await expect(search).toBeFocused();
  await page.keyboard.type("/jk");
  await expect(search).toHaveValue(/\/jk/);
  await rowOf("a").focus();
  await page.keyboard.press("j");
  await expect(rowOf("b")).toBeFocused();
  await page.keyboard.press("j");
  await expect(rowOf("b")).toBeFocused();
  await page.keyboard.press("k");
  await expect(rowOf("a")).toBeFocused();
  await page.keyboard.press("k");
  await expect(rowOf("a")).toBeFocused();
  await page.keyboard.press("/");
  await expect(search).toBeFocused();
});
