import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page } from "@playwright/test";
import { test } from "./support/office";

let elsewhere: Server;

// An extra header would need CORS permission.
test.use({ extraHTTPHeaders: {} });

test.beforeAll(async () => {
  elsewhere = createServer((_, outgoing) =>
    outgoing.setHeader("content-type", "text/html").end("<title>Elsewhere</title>"),
  );
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
});
test.afterAll(() => elsewhere.close());

test.beforeEach(({ page }) => page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`));

const call = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "get_health",
    arguments: {},
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};
const headers = {
  "Content-Type": "application/json",
  "MCP-Protocol-Version": "2026-07-28",
  "Mcp-Method": "tools/call",
  "Mcp-Name": "get_health",
};

/** Fetches from the page, and returns what the browser lets it read. */
function fetchIn(
  page: Page,
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: string },
) {
  return page.evaluate(
    async ([url, init]) => {
      const answer = await fetch(url, init);
      const read = (name: string) => answer.headers.get(name);
      return {
        status: answer.status,
        body: await answer.json(),
        remaining: read("RateLimit-Remaining"),
        policy: read("RateLimit-Policy"),
        challenge: read("WWW-Authenticate"),
        requestId: read("X-Request-Id"),
      };
    },
    [url, init] as const,
  );
}

for (const path of ["/mcp", "/api/mcp"]) {
  test(`a page on another origin calls a tool at ${path}, and reads its remaining quota`, async ({
    page,
    baseURL,
  }) => {
    const body = JSON.stringify(call);
    const read = await fetchIn(page, `${baseURL}${path}`, { method: "POST", headers, body });
    expect(read.status).toBe(200);
    expect(read.body.result.structuredContent).toMatchObject({ ok: true });
    expect(Number(read.remaining)).toBeGreaterThan(0);
    expect(Number(read.remaining)).toBeLessThan(60);
    expect(read.policy).toBe('"mcp";q=60;w=60');
    expect(read.requestId).toEqual(expect.any(String));
  });
}

test("a page on another origin can read a refused method and a refused token", async ({ page, baseURL }) => {
  const get = await fetchIn(page, `${baseURL}/mcp`, {});
  expect(get).toMatchObject({ status: 405, body: { error: { code: "method_not_allowed" } } });
  const name = "get_entitlement";
  const refused = await fetchIn(page, `${baseURL}/mcp`, {
    method: "POST",
    headers: { ...headers, "Mcp-Name": name, Authorization: "Bearer bad" },
    body: JSON.stringify({ ...call, params: { ...call.params, name } }),
  });
  expect(refused).toMatchObject({ status: 401, body: { result: { isError: true } } });
  expect(refused.challenge).toMatch(
    /^Bearer realm="corner-office", error="invalid_token", resource_metadata=/,
  );
});

test("a page on another origin cannot send a cookie", async ({ page, baseURL }) => {
  const outcome = await page.evaluate(
    (url) =>
      fetch(url, { method: "POST", credentials: "include" }).then(
        () => "read",
        () => "blocked",
      ),
    `${baseURL}/mcp`,
  );
  expect(outcome).toBe("blocked");
});
