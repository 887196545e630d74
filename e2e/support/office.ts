import { test as base, type Page } from "@playwright/test";
import { makeClock } from "@/tests/support/clock";
import { codesTo, newCodeTo } from "@/tests/support/mailbox";
import { Service } from "@/tests/support/service";
import { perWorker } from "./per-worker";

/** The service under local sign-in, one per worker, and a function that advances its clock. */
export type Office = { service: Service; passTime: (ms: number) => void };

/** A test whose browser has a client address that no other test uses. */
export const test = base.extend<object, { office: Office }>({
  office: perWorker(async (use) => {
    const clock = makeClock();
    const service = await Service.start({
      SIGN_IN: "local",
      TRUSTED_PROXY_HOPS: "1",
      LOG_LEVEL: "warn",
      ...clock.environment,
    });
    await use({ service, passTime: clock.pass });
    await service.stop();
  }),
  baseURL: async ({ office }, use) => use(office.service.url),
  extraHTTPHeaders: async ({ extraHTTPHeaders }, use, { testId, retry }) => {
    const numbers = [...testId.slice(-12)].map((letter) => letter.charCodeAt(0).toString(16));
    const groups = [0, 2, 4].map((at) => numbers.slice(at, at + 2).join(""));
    await use({ ...extraHTTPHeaders, "X-Forwarded-For": `2001:${groups.join(":")}::${retry}` });
  },
});

/** An email that no other test uses. */
export function newEmail(name: string): string {
  return `${name}-${crypto.randomUUID()}@example.com`;
}

/** Signs a browser in through the form. */
export async function signIn(page: Page, { service }: Pick<Office, "service">, email: string): Promise<void> {
  const earlier = await codesTo([service.dataDir], email);
  await page.goto(`${service.url}/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await typeCode(page, await newCodeTo([service.dataDir], email, earlier));
  await page.waitForURL(`${service.url}/home`);
}

/** Types a code and presses Enter, which does nothing if the form was submitted automatically. */
export async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel("Code").fill(code);
  await page.keyboard.press("Enter");
}

/** Waits until a loaded page's script has made the additions that it defers until after the first paint. */
export async function settle(page: Page): Promise<void> {
  // Frames and timers run in the order of their requests, so the script's come first.
  await page.evaluate(() => new Promise<void>((then) => requestAnimationFrame(() => setTimeout(then))));
}
