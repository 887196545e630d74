import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "@playwright/test";
import { test } from "./support/office";

let elsewhere: Server;

// An extra header would need CORS permission.
test.use({ extraHTTPHeaders: {} });

test.beforeAll(async ({ office: { service, passTime } }) => {
  await service.adminJson("banner", "set", "promo", "We move house on <Friday>");
  passTime(15_000); // the lifetime of the service's cached banner
  elsewhere = createServer((_, outgoing) =>
    outgoing.setHeader("content-type", "text/html").end("<title>Elsewhere</title>"),
  );
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
});
test.afterAll(() => elsewhere.close());

test("a page on another origin sends API-Version, and reads the banner and our headers", async ({
  page,
  baseURL,
}) => {
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
  const read = await page.evaluate(async (url) => {
    const answer = await fetch(url, { headers: { "API-Version": "1" } });
    const names = ["api-version", "link", "x-request-id", "server"];
    return {
      status: answer.status,
      body: await answer.json(),
      headers: names.map((name) => answer.headers.get(name)),
    };
  }, `${baseURL}/api/site-banner`);
  expect(read).toEqual({
    status: 200,
    body: { banner: { kind: "promo", message: "We move house on <Friday>" } },
    headers: ["1", expect.stringContaining('rel="deprecation"'), null, null],
  });
});

test("a page on another origin can read a refusal", async ({ page, baseURL }) => {
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
  const code = await page.evaluate(async (url) => {
    const answer = await fetch(url, { headers: { "API-Version": "2" } });
    return (await answer.json()).error.code;
  }, `${baseURL}/api/site-banner`);
  expect(code).toBe("invalid_request");
});

test("a page on another origin cannot read an account route", async ({ page, baseURL }) => {
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
  const outcome = await page.evaluate(
    (url) =>
      fetch(url, { credentials: "include" }).then(
        () => "read",
        () => "blocked",
      ),
    `${baseURL}/api/entitlement`,
  );
  expect(outcome).toBe("blocked");
});

test("the front page shows the banner as text", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("complementary", { name: "Notice" })).toHaveText("We move house on <Friday>");
});
