import type { Browser } from "@/tests/support/browser";
import type { Service } from "@/tests/support/service";

/**
 * Opens the address that an app shows, in the browser of a signed-in owner, and answers as the page's form does.
 *
 * @returns where the app is told, which the browser is sent to; `""` for a device's code
 */
export async function answerApp(
  browser: Browser,
  service: Service,
  address: string,
  word: "approve" | "decline" = "approve",
): Promise<string> {
  const path = address.replace(service.url, "");
  const code = new URL(address).searchParams.get("user_code");
  const asked = code ? path : (await browser.open(path)) && "/connect";
  const { text } = await browser.open(asked);
  const [, name = "", value = ""] = /name="(request|user_code)" value="([^"]+)"/.exec(text) ?? [];
  const { headers } = await browser.submit("/connect/answer", { [name]: value, answer: word });
  if (headers.location !== `/connect?answered=${name}`) throw new Error(`answered to ${headers.location}`);
  return code ? "" : String((await browser.open("/oauth/resume")).headers.location);
}
