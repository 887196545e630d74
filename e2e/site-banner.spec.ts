import { expect } from "@playwright/test";
import { serve } from "@/tests/support/loopback";
import { test } from "./support/office";

// An extra header would need CORS permission.
test.use({ extraHTTPHeaders: {} });

test("a page on another origin sends API-Version and reads the banner, refusals and our headers, but no account", async ({
  page,
  baseURL,
}) => {
  const elsewhere = await serve((_, outgoing) => outgoing.setHeader("content-type", "text/html").end());
  await page.goto(elsewhere.url);
  const read = (path: string, init: { headers?: Record<string, string>; credentials?: "include" }) =>
    page.evaluate(
      ([url, init]) =>
        fetch(url, init).then(
          async (answer) => ({ version: answer.headers.get("api-version"), body: await answer.json() }),
          () => "blocked",
        ),
      [`${baseURL}${path}`, init] as const,
    );
  const banner = await read("/api/site-banner", { headers: { "API-Version": "1" } });
  expect(banner).toMatchObject({ version: "1" });
  expect(banner).toHaveProperty("body.banner");
  const refused = await read("/api/site-banner", { headers: { "API-Version": "2" } });
  expect(refused).toMatchObject({ version: "1", body: { error: { code: "invalid_request" } } });
  expect(await read("/api/entitlement", { credentials: "include" })).toBe("blocked");
  await elsewhere.stop();
});
