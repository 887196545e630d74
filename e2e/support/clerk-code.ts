import type { Page, Response } from "@playwright/test";

/** Opens a page, and answers the addresses that it loads Clerk's code from, be it in a chunk of ours. */
export async function findClerkCode(page: Page, path: string): Promise<string[]> {
  const responses: Response[] = [];
  page.on("response", (response) => responses.push(response));
  await page.goto(path, { waitUntil: "networkidle" });
  const found: string[] = [];
  for (const response of responses) {
    const { pathname, href } = new URL(response.url());
    if (!pathname.endsWith(".js")) continue;
    if (pathname.includes("@clerk/") || (await response.text()).includes("@clerk/")) found.push(href);
  }
  return found;
}
