import type { Authenticator, Lies, Response } from "@/tests/support/authenticator";
import type { Browser } from "@/tests/support/browser";
import type { Answer } from "@/tests/support/service";

/** Asks for the options to add a passkey, as the page of a signed-in owner does. */
export const startAdding = (browser: Browser): Promise<Answer> =>
  browser.pressAtHome("/home/passkeys/options");

/** Adds a passkey to the account that a browser is signed in to. */
export async function add(browser: Browser, authenticator: Authenticator, lies?: Lies): Promise<Answer> {
  const { text } = await startAdding(browser);
  return finishAdding(browser, authenticator.create(JSON.parse(text), lies));
}

export const finishAdding = (browser: Browser, response: Response): Promise<Answer> =>
  browser.post("/home/passkeys/add", JSON.stringify(response));

/** Asks for the options to sign in. */
export async function ask(browser: Browser): Promise<{ challenge: string; rpId: string }> {
  return JSON.parse((await browser.post("/sign-in/passkey/options")).text);
}

/** Signs a browser in by a passkey, or confirms its session. */
export async function signInWith(
  browser: Browser,
  authenticator: Authenticator,
  lies?: Lies,
): Promise<Answer> {
  return sendAssertion(browser, authenticator.get(await ask(browser), lies));
}

export const sendAssertion = (browser: Browser, response: Response): Promise<Answer> =>
  browser.post("/sign-in/passkey", JSON.stringify(response));
