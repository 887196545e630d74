import type { Page, Request } from "@playwright/test";

/** Opens a page, and returns the URLs that it loads Clerk's code from, our own chunks included. */
export async function findClerkCode(page: Page, path: string): Promise<string[]> {
  // Ends the previous page's requests, so that they are not counted.
  await page.goto("about:blank");
  const requests: Request[] = [];
  const keep = (request: Request) => requests.push(request);
  page.on("request", keep);
  await page.goto(path, { waitUntil: "networkidle" });
  page.off("request", keep);
  const found: string[] = [];
  for (const request of requests) {
    const { pathname, href } = new URL(request.url());
    if (!pathname.endsWith(".js")) continue;
    const isClerks = pathname.includes("@clerk/") || (await readBody(request)).includes("@clerk/");
    if (isClerks) found.push(href);
  }
  return found;
}

async function readBody(request: Request): Promise<string> {
  return (await (await request.response())?.text()) ?? "";
}
