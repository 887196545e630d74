import { execFileSync } from "node:child_process";
import { test as base, type Page } from "@playwright/test";
import { codeTo, mailTo } from "@/tests/support/mailbox";
import { environment } from "../../playwright.config";

/** A test whose browser is a client of its own: it has an address that no other test has. */
export const test = base.extend({
  extraHTTPHeaders: async ({ extraHTTPHeaders }, use, { testId, retry }) => {
    const numbers = [...testId.slice(-12)].map((letter) => letter.charCodeAt(0).toString(16));
    const groups = [0, 2, 4].map((at) => numbers.slice(at, at + 2).join(""));
    await use({ ...extraHTTPHeaders, "X-Forwarded-For": `2001:${groups.join(":")}::${retry}` });
  },
});

/** Runs an operator's command beside the running server, and answers its JSON document. */
export function admin<T = Record<string, unknown>>(...args: string[]): T {
  const env = { ...process.env, ...environment };
  return JSON.parse(execFileSync("node", ["dist/admin/main.js", "--json", ...args], { env }).toString());
}

/** An email that no other test has. */
export function newEmail(name: string): string {
  return `${name}-${crypto.randomUUID()}@example.com`;
}

/** The newest mail to an email, once it is there. */
export const mailToEmail = (email: string, subject: RegExp) => mailTo(environment.DATA_DIR, email, subject);

/** The six digits of the newest code that was mailed to an email. */
export const codeFor = (email: string) => codeTo(environment.DATA_DIR, email);

/** Signs a browser in through the form. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Code").fill(await codeFor(email));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("/home");
}
