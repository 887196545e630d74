import type { Browser } from "@/tests/support/browser";
import { type App, makeApp } from "@/tests/support/oauth-libraries";
import type { Answer, Service } from "@/tests/support/service";

type Word = "approve" | "decline" | "leave";

export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/**
 * Opens an app's authorization URL in the browser of a signed-in owner, and submits the page's form.
 *
 * @returns the redirect to the app with the response; `""` for a device's code
 */
export async function answerApp(
  browser: Browser,
  service: Service,
  address: string,
  word: Word = "approve",
): Promise<string> {
  const code = new URL(address).searchParams.get("user_code");
  if (code) await browser.submit("/connect/device", { user_code: code });
  else await browser.open(address.replace(service.url, ""));
  const { headers } = await answerShown(browser, word);
  const outcome = word === "approve" ? "approved" : "declined";
  const answered = `/connect?answered=${code ? "user_code" : "request"}&outcome=${outcome}&request=`;
  const { location = "" } = headers;
  if (!location.startsWith(answered)) throw new Error(`answered to ${location}`);
  return code ? "" : String((await goOn(browser, location)).headers.location);
}

/** Follows the link to the app, on the page to which an answer leads. */
export async function goOn(browser: Browser, answered: string | undefined): Promise<Answer> {
  const { text } = await browser.open(String(answered));
  const [, link] = /<a href="(\/oauth\/resume[^"]*)"/.exec(text) ?? [];
  return browser.open(String(link));
}

/** Has an app ask, its owner approve, and the app redeem the code. */
export async function connectApp(
  app: App,
  browser: Browser,
  service: Service,
  more?: Record<string, string>,
) {
  const { address, redeem } = await app.ask(more);
  return redeem(new URL(await answerApp(browser, service, address.href)));
}

/** Types a device's code, and approves or declines. */
export async function answerDevice(browser: Browser, user_code: string, word: Word = "approve") {
  await browser.submit("/connect/device", { user_code });
  return answerShown(browser, word);
}

/** Has a device ask, its owner approve, and the device redeem its code. */
export async function connectDevice(browser: Browser, service: Service, client_id = "native") {
  const asked = await service.submit("/oauth/device", { client_id });
  const { user_code, device_code } = JSON.parse(asked.text);
  await answerDevice(browser, user_code);
  const { text } = await service.submit("/oauth/token", { client_id, grant_type: deviceGrant, device_code });
  return JSON.parse(text) as { access_token: string; refresh_token: string };
}

/** Presses a button on the page that shows the requesting app. */
export async function answerShown(browser: Browser, word: Word = "approve"): Promise<Answer> {
  return browser.submit("/connect/answer", { ...(await readQuestion(browser)), answer: word });
}

/** The hidden fields of the page's form: by default, of the request that was begun last. */
export async function readQuestion(
  browser: Browser,
  page = "/connect",
): Promise<{ request: string; account: string }> {
  const { text } = await browser.open(page);
  const read = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? "";
  return { request: read("request"), account: read("account") };
}

/** Lets apps in, one after the other. Returns the refresh token of each. */
export async function connectApps(browser: Browser, service: Service, count: number): Promise<string[]> {
  const app = await makeApp(service);
  const tokens: string[] = [];
  while (tokens.length < count) tokens.push((await connectApp(app, browser, service)).refresh_token ?? "");
  return tokens;
}

/** Renews the tokens of such an app. */
export const refresh = (service: Service, refresh_token: string): Promise<Answer> =>
  service.submit("/oauth/token", { grant_type: "refresh_token", client_id: "native", refresh_token });
