import { canUsePasskeys } from "../../browser/passkey";

const hasOwnAuthenticator =
  canUsePasskeys() && PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();

/** Shows the parts of a page that this browser can use. */
export async function showUsable(page: Document): Promise<void> {
  const isUsable: Record<string, boolean> = {
    passkeys: canUsePasskeys(),
    "own authenticator": await hasOwnAuthenticator,
  };
  for (const part of page.querySelectorAll<HTMLElement>("[data-needs]")) {
    part.hidden = !isUsable[part.dataset.needs ?? ""];
  }
}
