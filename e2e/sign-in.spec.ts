import { expect } from "@playwright/test";
import { codeTo, mailTo } from "@/tests/support/mailbox";
import { newEmail, settle, signIn, test, typeCode } from "./support/office";

test.describe("from waitlist to sign-out", () => {
  for (const javaScriptEnabled of [true, false]) {
    test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
      test.use({ javaScriptEnabled });

      test("a person joins the waitlist, is invited, accepts, signs in and signs out", async ({
        page,
        office: { service },
      }) => {
        const email = newEmail("ceo");
        await page.goto("/");
        await page.getByLabel("Email").fill(email.toUpperCase());
        await page.getByRole("button", { name: "Join the waitlist" }).click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("You are on the list");

        const listed = await service.adminJson<{ email: string; invitedAt: string | null }[]>(
          "waitlist",
          "list",
        );
        expect(listed.find((entry) => entry.email === email)?.invitedAt).toBeNull();
        const terms = ["--trial-days", "30", "--assistant-limit", "4", "--credits", "1250.5"];
        const { url } = await service.adminJson<{ url: string }>("waitlist", "invite", email, ...terms);
        expect((await mailTo(service.dataDir, email, /invitation/)).text).toContain(url);

        await page.goto(url);
        await page.getByLabel("Email").fill(email);
        await page.getByRole("button", { name: "Accept the invitation" }).click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("Enter the code");
        await expect(page.getByText("Your account is ready.")).toBeVisible();
        await typeCode(page, await codeTo(service.dataDir, email));

        await expect(page).toHaveURL("/home");
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("Your company may run");
        await expect(page.getByRole("img", { name: "30 days left of 30" })).toBeVisible();
        await expect(page.locator(".facts").getByRole("definition")).toHaveText(["1,250.5"]);
        await page.goto("/home/billing");
        await expect(page.locator(".card").getByRole("definition")).toHaveText(["4", "1,250.5"]);

        await page.goto("/sign-in");
        await expect(page).toHaveURL(/\/home/);
        await page.getByRole("button", { name: "Sign out" }).click();
        await expect(page).toHaveURL("/");
        await page.goto("/home");
        await expect(page).toHaveURL("/sign-in");
      });
    });
  }
});

test("a copied token works in curl, until its owner signs out", async ({
  page,
  context,
  request,
  office: { service },
}) => {
  const email = newEmail("token");
  await service.adminJson("account", "add", email, "--plan", "licensed", "--credits", "3");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page, { service }, email);
  await page.goto("/home/access");
  await page.getByText("For developers").click();
  await page.getByRole("button", { name: "Copy a token" }).click();
  await expect(page.getByText("Copied. Valid until")).toBeVisible();
  const token = await page.evaluate(() => navigator.clipboard.readText());
  const headers = { Authorization: `Bearer ${token}` };

  const balance = await request.get("/api/credits/balance", { headers });
  expect(balance.status()).toBe(200);
  expect(await balance.json()).toEqual({ credits: 3 });

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("/");
  expect((await request.get("/api/credits/balance", { headers })).status()).toBe(401);
});

test("a wrong code is refused, and after five tries a new one must be requested", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("codes");
  await service.adminJson("account", "add", email);
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  const code = await codeTo(service.dataDir, email);
  const wrong = code === "000000" ? "000001" : "000000";
  for (const words of ["4 more tries", "3 more tries", "2 more tries", "one more try"]) {
    await typeCode(page, wrong);
    await expect(page.getByRole("alert").filter({ hasText: "That code is not correct" })).toContainText(
      words,
    );
    await expect(page.getByLabel("Code")).toHaveAccessibleDescription(/That code is not correct/);
    await expect(page).toHaveTitle(/^That code is not correct\..* · Enter the code/);
    await expect(page.getByLabel("Code")).toBeFocused();
  }
  await expect(
    page.getByRole("alert").filter({ hasText: "Only the code of the newest email counts." }),
  ).toBeVisible();
  // Not Enter: on a busy machine a late Enter would reach the next page and request another code.
  await page.waitForLoadState();
  await settle(page);
  await page.getByLabel("Code").fill(wrong);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sign in");
  await expect(page.getByRole("alert").filter({ hasText: "That was the fifth wrong try" })).toBeVisible();
  await page.goto("/home");
  await expect(page).toHaveURL("/sign-in");
});

test("six digits are submitted automatically, however they are pasted, and another code can be requested", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("paste");
  await service.adminJson("account", "add", email, "--plan", "licensed");
  await page.clock.install();
  await page.goto("/sign-in");
  await expect(page.getByLabel("Email")).toBeFocused();
  await page.keyboard.type(email);
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Code")).toBeFocused();
  const again = page.getByRole("button", { name: /^Send again/ });
  await expect(again).toBeDisabled();
  await expect(async () => {
    await page.clock.runFor(31_000);
    await expect(again).toBeEnabled({ timeout: 1000 });
  }).toPass();
  const first = await codeTo(service.dataDir, email);
  await again.click();
  await expect(again).toBeDisabled();
  await expect.poll(() => codeTo(service.dataDir, email)).not.toBe(first);
  const code = await codeTo(service.dataDir, email);
  await page.getByLabel("Code").fill(` ${code.slice(0, 3)} ${code.slice(3)}`);
  await expect(page).toHaveURL("/home");
});
