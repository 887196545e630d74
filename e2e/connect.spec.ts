import { expect, type Page } from "@playwright/test";
import { startApp } from "@/tests/support/listening-app";
import { codeTo, mailTo } from "@/tests/support/mailbox";
import { openidClient } from "@/tests/support/oauth-libraries";
import type { Service } from "@/tests/support/service";
import { newEmail, signIn, test, typeCode } from "./support/office";

/* An owner connects an app in a real browser; the app is openid-client, which knows only our address. */

const heading = (page: Page) => page.getByRole("heading", { level: 1 });

async function entitlement(service: Service, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await service.ask("/api/entitlement", { headers })).status;
}

/** The audit entries about an email, newest first. */
async function entriesOf(service: Service, email: string): Promise<string[]> {
  const entries = await service.adminJson<{ what: string }[]>("audit", "list", "--of", email);
  return entries.map(({ what }) => what);
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("an owner signs in, sees which app asks, approves it, and disconnects it later", async ({
      page,
      office: { service },
    }) => {
      const email = newEmail("connect");
      await service.adminJson("account", "add", email, "--plan", "licensed");
      const app = await startApp(service);
      await page.goto(app.address);
      await expect(page).toHaveURL("/connect");
      await expect(heading(page)).toHaveText("Connect an app?");
      await expect(page.getByText("A program on this computer is asking for access")).toBeVisible();
      await expect(page.getByRole("button", { name: "Approve" })).toHaveCount(0);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("Email").fill(email);
      await page.getByRole("button", { name: "Send me a code" }).click();
      await expect(heading(page)).toHaveText("Enter the code");
      await typeCode(page, await codeTo(service.dataDir, email));
      await expect(page).toHaveURL("/connect");
      await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
      await expect(page.getByText("See whether your company may run, and its credits.")).toBeVisible();
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
      expect(await entitlement(service, access_token)).toBe(200);
      expect((await entriesOf(service, email))[0]).toBe("app approve");

      await page.goto("/home/access");
      const row = page.getByRole("listitem").filter({ hasText: "A program on this computer" });
      await row.getByRole("button", { name: /^End/ }).click();
      await expect(page).toHaveURL(/ended/);
      expect(await entitlement(service, access_token)).toBe(401);
      expect((await entriesOf(service, email))[0]).toBe("session end");
    });

    test("a device shows a code, and its owner types it", async ({ page, office: { service } }) => {
      const email = newEmail("device");
      await service.adminJson("account", "add", email, "--plan", "licensed");
      await signIn(page, { service }, email);
      const device = await (await openidClient.makeApp(service)).askByDevice();
      // A link with a code approves nothing: the owner has to read the code off the device.
      await page.goto(`/connect?user_code=${device.user_code}`);
      await expect(page.getByRole("button", { name: "Approve" })).toHaveCount(0);
      await expect(page.getByLabel("Code")).toHaveValue("");
      await page.getByLabel("Code").fill("BBBB-BBBB");
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(
        page.getByRole("alert").filter({ hasText: "This code is mistyped, already used or expired" }),
      ).toBeVisible();
      const spelledOut = [...device.user_code.toLowerCase().replace("-", "")].join(" ");
      await page.getByLabel("Code").fill(` ${spelledOut} `);
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(heading(page)).toHaveText("Connect a device?");
      await expect(page.getByText(`shows the code ${device.user_code} is asking`)).toBeVisible();
      await expect(
        page.getByText("127.0.0.0/24, which is not the network that you are on now"),
      ).toBeVisible();
      await expect(page.getByText("If someone sent or told you the code, decline")).toBeVisible();
      await page.getByRole("button", { name: "Approve" }).click();
      await expect(heading(page)).toHaveText("Connected");
      const { access_token } = await device.poll();
      expect(await entitlement(service, access_token)).toBe(200);
      expect((await entriesOf(service, email))[0]).toBe("app approve");
    });

    test("an owner who types a device's code signs in, and continues with the approval", async ({
      page,
      office: { service },
    }) => {
      const email = newEmail("signed-out");
      await service.adminJson("account", "add", email, "--plan", "licensed");
      const device = await (await openidClient.makeApp(service)).askByDevice();
      await typeDeviceCode(page, device.user_code);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("Email").fill(email);
      await page.getByRole("button", { name: "Send me a code" }).click();
      await typeCode(page, await codeTo(service.dataDir, email));
      await expect(page).toHaveURL("/connect");
      await expect(page.getByText(`shows the code ${device.user_code} is asking`)).toBeVisible();
      await page.getByRole("button", { name: "Decline" }).click();
      await expect(heading(page)).toHaveText("Declined");
      await expect(page.getByText("Nothing was connected.")).toBeVisible();
      await expect(device.poll()).rejects.toMatchObject({ error: "access_denied" });
    });

    test("a person accepts the invitation in a mail, and continues with the approval", async ({
      page,
      office: { service },
    }) => {
      const email = newEmail("invited");
      const device = await (await openidClient.makeApp(service)).askByDevice();
      await typeDeviceCode(page, device.user_code);
      await service.adminJson("invite", email, "--plan", "licensed");
      const { text = "" } = await mailTo(service.dataDir, email, /invitation/);
      await page.goto(/^http.*\/invitation\?.*$/m.exec(text)?.[0] ?? "");
      await page.getByLabel("Email").fill(email);
      await page.getByRole("button", { name: "Accept the invitation" }).click();
      await expect(page).toHaveURL("/connect");
      await page.getByRole("button", { name: "Approve" }).click();
      await expect(heading(page)).toHaveText("Connected");
      expect(await entitlement(service, (await device.poll()).access_token)).toBe(200);
    });
  });
}

async function typeDeviceCode(page: Page, code: string): Promise<void> {
  await page.goto("/connect");
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(heading(page)).toHaveText("Connect a device?");
}
