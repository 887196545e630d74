import { type BrowserContext, expect, type Page } from "@playwright/test";
import { makeUser } from "@/tests/support/clerk-instance";
import { startApp } from "@/tests/support/listening-app";
import { ClerkFrontend } from "./support/clerk-frontend";
import { type Office, test } from "./support/clerk-office";
import { newEmail } from "./support/office";

test.describe.configure({ mode: "default" });

test("an operator invites, Clerk signs up, and its webhook opens the account", async ({
  page,
  office: { clerk, frontend, service },
}) => {
  const email = newEmail("invited");
  const terms = ["--trial-days", "30", "--assistant-limit", "4", "--credits", "1250.5"];
  const { url } = await service.adminJson<{ url: string }>("invite", email, ...terms);

  await page.clock.install();
  await page.goto(url);
  await page.waitForURL(/\/home/);
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toHaveText("We cannot read your account");

  const user = makeUser(frontend.users.get(email) ?? "", email, Date.now());
  expect((await clerk.deliver(service, { type: "user.created", data: user })).status).toBe(204);
  // The page checks again by itself once its scripts run.
  await expect(async () => {
    await page.clock.runFor(30_000);
    await expect(heading).toHaveText("Your trial is active", { timeout: 1000 });
  }).toPass();
  await expect(page.getByText("30 days left")).toBeVisible();
  await expect(page.locator(".total")).toHaveText("1,250.5");
});

test("signs in by a code; cookie, bearer and copied token work until sign-out", async ({
  page,
  context,
  office,
}) => {
  const { service } = office;
  const email = await openAccount(office);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);

  await page.goto("/home");
  await expect(page).toHaveURL("/sign-in");
  await signIn(page, email);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your plan is active");
  await page.getByRole("link", { name: "Account" }).click();
  await expect(page.getByText(email, { exact: true })).toBeVisible();
  await page.goto("/home");

  expect((await page.request.get("/api/entitlement")).status(), "by the cookie").toBe(200);
  const session = (await context.cookies()).find(({ name }) => name === "__session")?.value;
  expect(await service.statusFor(String(session)), "as bearer").toBe(200);

  await page.getByRole("link", { name: "Access" }).click();
  await page.getByText("For developers").click();
  await page.getByRole("button", { name: "Copy a token" }).click();
  await expect(page.getByText("Copied. Valid until")).toBeVisible();
  const token = await page.evaluate(() => navigator.clipboard.readText());
  expect(token).not.toBe(session);
  const copied = { headers: { authorization: `Bearer ${token}` } };
  expect(JSON.parse((await service.ask("/api/credits/balance", copied)).text)).toEqual({ credits: 3 });

  await page.goto("/sign-in");
  await expect(page, "who is signed in has nothing to do there").toHaveURL("/home");
  await page.getByRole("button", { name: "Open user menu" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL("/");
  await page.goto("/home");
  await expect(page).toHaveURL("/sign-in");
});

test("an owner signs in with Clerk and declines an app, then approves another without signing in again", async ({
  page,
  context,
  office,
}) => {
  const { service } = office;
  const email = await openAccount(office);
  const app = await startApp(service);
  await page.goto(app.address);
  await expect(page).toHaveURL(/\/connect\?request=/);
  await page.getByRole("button", { name: "Sign in" }).click();
  await signIn(page, email);
  await expect(page).toHaveURL("/connect");
  await expect(page.getByText(`Signed in as ${email}.`)).toBeVisible();
  await page.getByRole("button", { name: "Decline" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("You can close this page");
  await expect(app.finish()).rejects.toMatchObject({ error: "access_denied" });

  // The session token expired while no page was open: the next app's request still finds its owner signed in.
  await runOut(context, office, email);
  const again = await startApp(service);
  await page.goto(again.address);
  await expect(page.getByText(`Signed in as ${email}.`)).toBeVisible();

  // If the token expires while the question is open, the question is shown again, not the sign-in page.
  await runOut(context, office, email);
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("alert")).toHaveText(/your answer was not saved. Answer again\./);
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("You can close this page");
  const { access_token } = await again.finish();
  expect(await service.statusFor(access_token)).toBe(200);
});

test("an owner stays signed in beside a cookie of the same name of another site", async ({
  page,
  context,
  office,
}) => {
  await signIn(page, await openAccount(office));
  // A longer path comes first, as an older cookie of a parent domain does.
  const others = { name: "__session", value: "eyJvdGhlciI6MX0.c2ln", domain: "localhost" };
  for (const path of ["/home", "/sign-in"]) await context.addCookies([{ ...others, path }]);
  await page.goto("/home");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your plan is active");
  await page.goto("/sign-in");
  await expect(page).toHaveURL("/home");
});

test("says so once to a browser that Clerk sends home and that is not signed in there", async ({
  page,
  context,
  office: { clerk, frontend, service },
}) => {
  const email = newEmail("circle");
  await service.adminJson("invite", email, "--plan", "licensed");
  const user = makeUser(frontend.addUser(email), email, Date.now());
  await clerk.deliver(service, { type: "user.created", data: user });
  await signIn(page, email);
  const token = (await context.cookies()).find(({ name }) => name === "__session")?.value ?? "";
  const { sid } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const ended = { object: "session", id: sid, user_id: user.id, status: "ended" };
  await clerk.deliver(service, { type: "session.ended", data: ended } as never);
  await page.goto("/home");
  await expect(page.getByRole("alert")).toContainText("this site does not get your session");
  await expect(page).toHaveURL("/sign-in");
});

test("shows a message when Clerk's script cannot be loaded", async ({ page }) => {
  await page.clock.install();
  await page.route(/\/npm\/@clerk\//, (route) => route.abort());
  await page.goto("/sign-in");
  // Clerk's loader may start or retry at any moment.
  await expect(async () => {
    await page.clock.runFor(30_000);
    await expect(page.getByRole("main").getByRole("alert")).toHaveText(
      "The sign-in service cannot be reached. Reload this page in a moment.",
      { timeout: 1000 },
    );
  }).toPass();
});

/** Opens an account by the operator's grant and Clerk's webhook. Returns its email. */
async function openAccount({ clerk, frontend, service }: Office): Promise<string> {
  const email = newEmail("ceo");
  await service.adminJson("invite", email, "--plan", "licensed", "--credits", "3");
  const user = makeUser(frontend.addUser(email), email, Date.now());
  expect((await clerk.deliver(service, { type: "user.created", data: user })).status).toBe(204);
  return email;
}

/** Replaces a browser's session token with an expired one. */
async function runOut(context: BrowserContext, { clerk, frontend }: Office, email: string): Promise<void> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const sub = frontend.users.get(email);
  const expired = clerk.mint({ sub, iat: nowSeconds - 120, nbf: nowSeconds - 130, exp: nowSeconds - 60 });
  const cookies = await context.cookies();
  const sessions = cookies.filter(({ name }) => name.startsWith("__session"));
  await context.addCookies(sessions.map((cookie) => ({ ...cookie, value: expired })));
}

/** Signs in through Clerk's component. */
async function signIn(page: Page, email: string): Promise<void> {
  await page.goto("/sign-in");
  await page.getByLabel("Email address").fill(email);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await page.getByLabel("Enter verification code").pressSequentially(ClerkFrontend.code);
  await page.waitForURL(/\/(?:home|connect)$/);
}
