import { expect, type Page } from "@playwright/test";
import { startApp } from "@/tests/support/listening-app";
import { serve } from "@/tests/support/loopback";
import { codeTo } from "@/tests/support/mailbox";
import { makeApp } from "@/tests/support/oauth-libraries";
import { newEmail, test, typeCode } from "./support/office";

/* An owner connects an app in a real browser; the app is openid-client, which knows only our address. */

const heading = (page: Page) => page.getByRole("heading", { level: 1 });

test("an owner signs in, sees which app asks, approves it, and disconnects it later", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("connect");
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const app = await startApp(service);
  await page.goto(app.address);
  await expect(page).toHaveURL(/\/connect\?request=/);
  await expect(heading(page)).toHaveText("A program on this computer wants to connect");
  await expect(page.getByRole("button", { name: "Approve" })).toHaveCount(0);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await expect(heading(page)).toHaveText("Enter the code");
  await typeCode(page, await codeTo(service.dataDir, email));
  await expect(page).toHaveURL("/connect");
  await expect(page.getByText(`Signed in as ${email}.`)).toBeVisible();
  await expect(page.getByText("See whether your assistants may run, and your credits")).toBeVisible();
  const [approve, decline] = [
    page.getByRole("button", { name: "Approve" }),
    page.getByRole("button", { name: "Decline" }),
  ];
  const look = (button: typeof approve) =>
    button.evaluate((element) => {
      const { color, backgroundColor, fontSize, fontWeight, height } = getComputedStyle(element);
      return { color, backgroundColor, fontSize, fontWeight, height };
    });
  expect(await look(approve), "of equal weight").toEqual(await look(decline));
  await approve.click();
  await expect(heading(page)).toHaveText("You can close this page");
  const { access_token } = await app.finish();
  expect(await service.statusFor(access_token)).toBe(200);

  await page.goto("/home/access");
  const row = page.getByRole("listitem").filter({ hasText: "An app on " });
  await row.locator("summary").click();
  await row.getByRole("button", { name: /^Disconnect/ }).click();
  await expect(page).toHaveURL(/ended/);
  expect(await service.statusFor(access_token)).toBe(401);
});

// modelcontextprotocol/use-mcp#33, AutoGPT#14141, langgenius/dify#39763: "Sign-in window was closed", and an empty callback.
test("a web app that asks in a window of its own hears the answer from it, and never that it was closed", async ({
  page,
  office: { service },
}) => {
  const email = newEmail("window");
  await service.adminJson("account", "add", email, "--plan", "licensed");
  const app = await makeApp(service);
  const tell = "<script>opener.postMessage(location.href, location.origin)</script>";
  const { url, stop } = await serve((incoming, outgoing) => {
    outgoing.setHeader("content-type", "text/html; charset=utf-8");
    outgoing.end(incoming.url?.startsWith("/callback") ? tell : "<h1>An app</h1>");
  });
  const { address, redeem } = await app.ask({ redirect_uri: `${url}/callback` });
  await page.goto(url);
  const opening = page.waitForEvent("popup");
  const opener = await page.evaluateHandle((to) => {
    const told = new Promise<string>((resolve) => addEventListener("message", ({ data }) => resolve(data)));
    return { told, popup: open(to, "app", "width=480,height=700") };
  }, address.href);
  const popup = await opening;
  const expectOpen = async () => expect(await opener.evaluate((own) => own.popup?.closed)).toBe(false);
  await popup.getByRole("button", { name: "Sign in" }).click();
  await popup.getByLabel("Email").fill(email);
  await expectOpen();
  await popup.getByRole("button", { name: "Send me a code" }).click();
  await typeCode(popup, await codeTo(service.dataDir, email));
  await expect(popup.getByText(`Signed in as ${email}.`)).toBeVisible();
  await expectOpen();
  await popup.getByRole("button", { name: "Approve" }).click();
  const told = await opener.evaluate((own) => own.told);
  const { access_token } = await redeem(new URL(told));
  expect(await service.statusFor(access_token)).toBe(200);
  await stop();
});
