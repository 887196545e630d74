import { test as base, type Page } from "@playwright/test";
import { Browser } from "@/tests/support/browser";
import { makeClock } from "@/tests/support/clock";
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

/** Signs a browser in without the form, and opens home: `sign-in.spec.ts` and `connect.spec.ts` go through the form. */
export async function signIn(page: Page, service: Service, email: string): Promise<void> {
  const { cookies } = await Browser.signIn(service, email);
  const sent = [...cookies].map(([name, value]) => ({ name, value, url: service.url }));
  await page.context().addCookies(sent);
  await page.goto(`${service.url}/home`);
}

/** Opens an account and its owner's home. */
export async function openAccount(page: Page, service: Service, email: string, ...terms: string[]) {
  await service.adminJson("account", "add", email, ...terms);
  await signIn(page, service, email);
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
