import { expect, type Page, type Route } from "@playwright/test";
import type { Service } from "@/tests/support/service";
import { type Device, giveAuthenticator } from "./support/authenticator";
import { expectAccessible } from "./support/axe";
import { newEmail, openAccount, settle, signIn, test } from "./support/office";

const setVerified = ({ cdp, authenticatorId }: Device, isUserVerified: boolean) =>
  cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });

/** How many passkeys a device holds. */
const countHeld = async ({ cdp, authenticatorId }: Device) =>
  (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials.length;

/** Makes a browser that does not offer passkeys in fields. */
const withoutAutofill = (page: Page) =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });

const passkeys = (page: Page) => page.locator("#ways .rows li");
const signOut = async (page: Page) => {
  await page.getByRole("button", { name: "Your account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
};

async function addPasskey(page: Page, count = 1): Promise<void> {
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByText("Passkey added.")).toBeVisible();
  await expect(passkeys(page)).toHaveCount(count);
}

async function openWithPasskey(page: Page, service: Service, name: string) {
  const email = newEmail(name);
  const device = await giveAuthenticator(page);
  await openAccount(page, service, email, "--plan", "licensed");
  await expect(page.getByText("Sign in next time with your fingerprint")).toBeVisible();
  await page.goto("/home/access");
  await addPasskey(page);
  return { email, device };
}

test("an owner adds a passkey, signs in by autofill and by button, and removes it", async ({
  page,
  office: { service },
}) => {
  const { email, device } = await openWithPasskey(page, service, "passkey");
  await expect(passkeys(page)).toContainText("Chrom");
  await expect(passkeys(page)).toContainText("not used yet");

  await signOut(page);
  await page.waitForURL("/");
  // The authenticator answers the offer in the field at once, as a person does who chooses it there.
  await page.goto("/sign-in");
  await page.waitForURL("/home");
  await expect(page.locator(".who")).toHaveText(email);
  await page.goto("/home/access");
  await expect(passkeys(page)).toContainText("last used");

  await signOut(page);
  await page.waitForURL("/");
  await withoutAutofill(page);
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.waitForURL("/home");

  await page.goto("/home/access");
  await page.getByRole("button", { name: /^Remove “/ }).click();
  await expect(page.getByText("The passkey was removed.")).toBeVisible();
  await expect(passkeys(page)).toHaveCount(0);
  // The page tells the browser, which does not offer it any more.
  await expect.poll(() => countHeld(device)).toBe(0);

  // What was sent may have arrived.
  await page.route("**/home/passkeys/add", (route) => route.abort());
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByText("We could not tell whether that worked.")).toBeVisible();
});

// A password manager deletes what is not named.
test("a browser is not told which passkeys there are by a page from before one was added", async ({
  page,
  office: { service },
}) => {
  await page.addInitScript(() => {
    const { signalAllAcceptedCredentials: signal } = PublicKeyCredential;
    PublicKeyCredential.signalAllAcceptedCredentials = (options) => {
      document.documentElement.dataset.told = String(options.allAcceptedCredentialIds.length);
      return signal.call(PublicKeyCredential, options);
    };
  });
  const { device } = await openWithPasskey(page, service, "stale");
  const html = page.locator("html");
  await expect(html).toHaveAttribute("data-told", "1");
  for (const lost of ["**/sign-in/renew", "**/home/access"]) {
    await page.reload();
    await expect(html).toHaveAttribute("data-told", /\d/);
    await html.evaluate(({ dataset }) => delete dataset.told);
    // As where another device has it: one that holds a passkey of the account makes no second one.
    await device.cdp.send("WebAuthn.clearCredentials", { authenticatorId: device.authenticatorId });
    await page.route(lost, (route) => route.abort());
    const failed = page.waitForEvent("requestfailed");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await failed;
    await expect(page.getByText("Passkey added.")).toBeVisible();
    await settle(page);
    await expect(html, lost).not.toHaveAttribute("data-told");
    expect(await countHeld(device), lost).toBe(1);
    await page.unroute(lost);
  }
});

test("an owner adds a passkey and signs in with it in a browser without WebAuthn's own JSON", async ({
  page,
  office: { service },
}) => {
  await page.addInitScript(() => {
    for (const name of ["parseCreationOptionsFromJSON", "parseRequestOptionsFromJSON"])
      Object.defineProperty(PublicKeyCredential, name, { value: undefined });
    Object.defineProperty(PublicKeyCredential.prototype, "toJSON", { value: undefined });
  });
  await openWithPasskey(page, service, "older");
  await signOut(page);
  await page.waitForURL("/");
  await page.goto("/sign-in");
  await page.waitForURL("/home");
});

/* What browsers do with the credentials of password managers: objects that only look like theirs. */
const ofManagers: [what: string, breakIt: () => void][] = [
  [
    "whose credential is an object that the browser's toJSON does not take, with arrays of bytes",
    () => {
      const { create, get } = CredentialsContainer.prototype;
      const rebuild = (made: Credential | null) => {
        const { id, rawId, type, response } = made as PublicKeyCredential;
        const { attestationObject } = response as AuthenticatorAttestationResponse;
        const { authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
        const bytes = (buffer?: ArrayBuffer | null) => buffer && new Uint8Array(buffer);
        const own = (value: unknown) => ({ value, enumerable: true });
        const parts = Object.create(Object.getPrototypeOf(response), {
          clientDataJSON: own(bytes(response.clientDataJSON)),
          ...(attestationObject && { attestationObject: own(bytes(attestationObject)) }),
          ...(signature && {
            signature: own(bytes(signature)),
            authenticatorData: own(bytes(authenticatorData)),
          }),
          ...(userHandle && { userHandle: own(bytes(userHandle)) }),
        });
        const fields = { id: own(id), rawId: own(bytes(rawId)), type: own(type), response: own(parts) };
        return Object.create(PublicKeyCredential.prototype, fields);
      };
      CredentialsContainer.prototype.create = async function (options) {
        return rebuild(await create.call(this, options));
      };
      CredentialsContainer.prototype.get = async function (options) {
        return rebuild(await get.call(this, options));
      };
    },
  ],
  [
    "whose credential has no toJSON",
    () => {
      Reflect.deleteProperty(PublicKeyCredential.prototype, "toJSON");
    },
  ],
  [
    "whose toJSON leaves parts out",
    () => {
      const toJSON = { value: () => ({ response: {} }) };
      Object.defineProperty(PublicKeyCredential.prototype, "toJSON", toJSON);
    },
  ],
];

for (const [what, breakIt] of ofManagers) {
  test(`an owner adds a passkey and signs in with a password manager ${what}`, async ({
    page,
    office: { service },
  }) => {
    await page.addInitScript(breakIt);
    await openWithPasskey(page, service, `manager-${ofManagers.findIndex(([one]) => one === what)}`);
    await signOut(page);
    await page.waitForURL("/");
    await page.goto("/sign-in");
    await page.waitForURL("/home");
  });
}

test("a second device has a passkey of its own, and one removed there no longer signs in here", async ({
  page,
  browser,
  office: { service },
  extraHTTPHeaders,
}) => {
  const { email, device } = await openWithPasskey(page, service, "devices");
  const context = { ...(extraHTTPHeaders && { extraHTTPHeaders }), baseURL: service.url };
  const second = await (await browser.newContext(context)).newPage();
  const secondDevice = await giveAuthenticator(second);
  await signIn(second, service, email);
  await second.goto("/home/access");
  await addPasskey(second, 2);
  // The one of the first device.
  const [remove] = await second.getByRole("button", { name: /^Remove “/ }).all();
  await remove?.click();
  await expect(passkeys(second)).toHaveCount(1);
  await signOut(second);
  await second.waitForURL("/");
  await second.goto("/sign-in");
  await second.waitForURL("/home");
  expect(await countHeld(secondDevice), "it keeps what the account has").toBe(1);

  expect(await countHeld(device)).toBe(1);
  await signOut(page);
  await page.waitForURL("/");
  await page.goto("/sign-in");
  await expect(page.getByText(/^That did not work/)).toBeVisible();
  await expect(page).toHaveURL("/sign-in");
  // A browser that has offered an unknown passkey does so once.
  await expect.poll(() => countHeld(device)).toBe(0);
  await second.context().close();
});

test("a refused user verification signs no one in, and after three tries the page says what to do", async ({
  page,
  office: { service },
}) => {
  const { device } = await openWithPasskey(page, service, "refused");
  await signOut(page);
  await page.waitForURL("/");
  await setVerified(device, false);
  await withoutAutofill(page);
  await page.goto("/sign-in");
  const button = page.getByRole("button", { name: "Sign in with a passkey" });
  for (const words of [
    "Try again, or request a code.",
    "Try again, or request a code.",
    "a code always works",
  ]) {
    await button.click();
    await expect(page.locator("#passkey .status")).toContainText(words);
    await expect(page).toHaveURL("/sign-in");
  }
  await expectAccessible(page);
  await setVerified(device, true);
  await button.click();
  await page.waitForURL("/home");
});

// MasterKale/SimpleWebAuthn#348
test("an offer in the field that fails before anyone has touched the page is not said to have failed", async ({
  page,
}) => {
  await page.addInitScript(() => {
    navigator.credentials.get = () => Promise.reject(new DOMException("", "NotAllowedError"));
  });
  const offered = page.waitForResponse((answer) => answer.url().endsWith("/sign-in/passkey/options"));
  await page.goto("/sign-in");
  await offered;
  await settle(page);
  const said = page.locator("#passkey .status");
  await expect(said).toBeEmpty();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(said).toContainText("a code");
});

test("five minutes after a sign-in, the owner confirms by a passkey before the next change", async ({
  page,
  office: { service, passTime },
}) => {
  await openWithPasskey(page, service, "confirms");
  const remove = page.getByRole("button", { name: /^Remove “/ });
  await expect(remove).toBeVisible();
  passTime(5 * 60_000);
  // As the open page does every 45 seconds.
  await page.evaluate(() => fetch("/sign-in/renew", { method: "POST" }));
  await remove.click();
  await expect(page.getByText("Confirm that it is you under “Ways to sign in”")).toBeVisible();
  await expect(page.getByText("To add or remove a passkey, confirm that it is you:")).toBeVisible();
  await expect(remove).toBeHidden();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await expect(remove).toBeVisible();
  await remove.click();
  await expect(page.getByText("The passkey was removed.")).toBeVisible();
});

test("passkeys work by keyboard alone, and axe finds nothing in the pages that show them", async ({
  page,
  office: { service },
}) => {
  const { email } = await openWithPasskey(page, service, "keyboard");
  await expectAccessible(page);
  await page.getByText("Rename", { exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.getByLabel(/^New name of/)).toBeFocused();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The passkey was renamed.")).toBeVisible();
  await page.getByRole("button", { name: "Remove “By keyboard”" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("The passkey was removed.")).toBeVisible();
  await page.getByRole("button", { name: "Add a passkey" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Passkey added.")).toBeVisible();
  await signOut(page);
  await page.waitForURL("/");
  await withoutAutofill(page);
  await page.goto("/sign-in");
  await expect(page.getByLabel("Email")).toBeFocused();
  // Past the button of the form.
  for (let press = 0; press < 2; press++) await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Sign in with a passkey" })).toBeFocused();
  await page.keyboard.press("Enter");
  await page.waitForURL("/home");
  await expect(page.locator(".who")).toHaveText(email);
});

test("a browser without WebAuthn sees the pages as before", async ({ page, office: { service } }) => {
  await page.addInitScript(() => Object.defineProperty(window, "PublicKeyCredential", { value: undefined }));
  await page.goto("/sign-in");
  await expect(page.getByLabel("Email")).toBeFocused();
  await expect(page.locator("#passkey")).toBeHidden();
  await openAccount(page, service, newEmail("no-webauthn"), "--plan", "licensed");
  await expect(page.getByText("Next time, sign in with")).toBeHidden();
  await page.getByRole("link", { name: "Access" }).click();
  await expect(page.getByText("A code by email always works.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Add a passkey" })).toBeHidden();
});

test("nothing moves when the script offers passkeys, and it asks for a challenge after the first paint", async ({
  page,
}) => {
  const script = new Promise<Route>((hold) => page.route(/pages\.js/, hold));
  const challenge = page.waitForRequest(/passkey\/options/);
  await page.goto("/sign-in", { waitUntil: "commit" });
  const below = page.getByRole("link", { name: "Join the waitlist" });
  const before = await below.boundingBox();
  await (await script).continue();
  await expect(page.getByRole("button", { name: "Sign in with a passkey" })).toBeVisible();
  expect(await below.boundingBox()).toEqual(before);
  await challenge;
  const paints = await page.evaluate(() => performance.getEntriesByType("paint").length);
  expect(paints).toBeGreaterThan(0);
});
