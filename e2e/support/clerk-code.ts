import type { Page, Request } from "@playwright/test";

/** Opens a page, and answers the addresses that it loads Clerk's code from, be it in a chunk of ours. */
export async function findClerkCode(page: Page, path: string): Promise<string[]> {
  // Whatever the page before still loads is not this one's.
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
