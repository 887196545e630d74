import { createHash, X509Certificate } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Browser, chromium as browserType, expect, type Page, test } from "@playwright/test";
import { chromium } from "@/playwright.config";
import { certificate } from "@/tests/support/certificate";
import { passOn } from "@/tests/support/http-proxy";
import { codesTo, newCodeTo } from "@/tests/support/mailbox";
import { reservePort } from "@/tests/support/port";
import { Service } from "@/tests/support/service";
import { giveAuthenticator } from "./support/authenticator";
import { typeCode } from "./support/office";

/* The service moves from one host to another, and its passkeys go on by related origins (WebAuthn §5.11). */

const email = "ceo@example.com";
const [before, after] = ["office.example.org", "desk.example.com"];

/** Starts the service at a host, on the data of the one before. */
async function serve(host: string, port: number, settings: Record<string, string> = {}, from?: Service) {
  const environment = { APP_URL: `https://${host}`, PORT: String(port), SIGN_IN: "local" };
  const data = from && { DATA_DIR: from.dataDir };
  return Service.start({ ...environment, TRUSTED_PROXY_HOPS: "1", ...data, ...settings });
}

/** A proxy with TLS in front of the port, for both hosts, and a browser that trusts it. */
async function openBrowser(port: number): Promise<{ browser: Browser; close: () => Promise<void> }> {
  const { key, cert } = certificate();
  const forwarded = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" };
  const proxy = createServer(
    { key, cert },
    passOn(() => port, forwarded),
  );
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const at = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const publicKey = new X509Certificate(cert).publicKey.export({ type: "spki", format: "der" });
  const args = [
    ...chromium.args,
    `--host-resolver-rules=${[before, after].map((host) => `MAP ${host}:443 ${at}`).join(", ")}`,
    `--ignore-certificate-errors-spki-list=${createHash("sha256").update(publicKey).digest("base64")}`,
  ];
  const browser = await browserType.launch({ ...chromium, args });
  const close = async () => {
    await browser.close();
    proxy.closeAllConnections();
    proxy.close();
  };
  return { browser, close };
}

async function signIn(page: Page, { url, dataDir }: Service): Promise<void> {
  const earlier = await codesTo(dataDir, email);
  await page.goto(`${url}/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.keyboard.press("Enter");
  await typeCode(page, await newCodeTo(dataDir, email, earlier));
  await page.waitForURL(`${url}/home`);
}

const signOut = async (page: Page) => {
  await page.getByRole("button", { name: "Your account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
};

test("a passkey of the host from before signs in at the new one, and is asked for there alone without PASSKEY_HOST", async () => {
  const port = await reservePort();
  const { browser, close } = await openBrowser(port);
  const page = await browser.newPage();
  await giveAuthenticator(page);
  let service = await serve(before, port);
  await service.adminJson("account", "add", email, "--plan", "licensed");
  await signIn(page, service);
  await page.goto(`${service.url}/home/access`);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByText("Passkey added.")).toBeVisible();
  await signOut(page);
  await page.waitForURL(`${service.url}/`);

  await service.stop();
  service = await serve(after, port, {}, service);
  // The browser has no passkey to offer here: it would have answered the offer in the field at once.
  await signIn(page, service);
  await page.goto(`${service.url}/home/access`);
  await expect(page.getByText(`It was made for ${before} and works only there`)).toBeVisible();
  await signOut(page);
  await page.waitForURL(`${service.url}/`);

  await service.stop();
  service = await serve(after, port, { PASSKEY_HOST: before }, service);
  await page.goto(`${service.url}/sign-in`);
  await page.waitForURL(`${service.url}/home`);
  await page.goto(`${service.url}/home/access`);
  await expect(page.locator("#ways .rows li")).toContainText("last used");
  await expect(page.getByText("works only there")).toHaveCount(0);
  await close();
  await service.stop();
});
