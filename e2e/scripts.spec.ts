import { expect, type Request } from "@playwright/test";
import { files, type Page, pages } from "@/lib/api/pages";
import { test } from "./support/office";

/** Compressed, as they come over the wire. */
const mostBytesOfDocuments = 10 * 1024;

const open = Object.values<Page>(pages).filter(({ access, under }) => access !== "session" && !under);

for (const { path, loads } of open.filter(({ loads }) => !loads.includes("framework"))) {
  test(`${path} ships ${loads.length > 0 ? "10 KB of JavaScript at most" : "no JavaScript at all"}`, async ({
    page,
  }) => {
    const scripts: Request[] = [];
    page.on("request", (request) => request.resourceType() === "script" && scripts.push(request));
    await page.goto(path, { waitUntil: "networkidle" });
    expect(await page.locator("script:not([src])").count()).toBe(0);
    const named = loads.includes("documents") ? [files.documentsScript.path] : [];
    expect(scripts.map((script) => new URL(script.url()).pathname)).toEqual(named);
    const sizes = await Promise.all(scripts.map((script) => script.sizes()));
    const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(bytes).toBeLessThanOrEqual(loads.length > 0 ? mostBytesOfDocuments : 0);
  });
}
