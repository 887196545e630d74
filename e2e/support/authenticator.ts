import type { CDPSession, Page } from "@playwright/test";

/** A device with its own authenticator, which holds passkeys and verifies its user. */
export type Device = { cdp: CDPSession; authenticatorId: string };

/** Gives a page's browser a platform authenticator (https://chromedevtools.github.io/devtools-protocol/tot/WebAuthn/). */
export async function giveAuthenticator(page: Page): Promise<Device> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}
