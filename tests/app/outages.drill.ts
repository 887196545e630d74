import { beforeAll, describe, expect, it } from "vitest";
import { routes } from "@/lib/http/register/all-routes";
import { mcpServer } from "@/lib/http/register/mcp";
import { operations } from "@/lib/http/register/operations";
import type { Method } from "@/lib/http/route";
import { Authenticator } from "@/tests/support/authenticator";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { eventually } from "@/tests/support/databases";
import { illStores } from "@/tests/support/ill-stores";
import { signInWith } from "@/tests/support/passkeys";

/** Every address of the registers, by each of its methods that does something. */
const asked: { method: Method; path: string }[] = [
  ...routes,
  ...Object.values(operations),
  ...mcpServer.paths.map((path) => ({ path, methods: mcpServer.methods })),
].flatMap(({ path, methods }) =>
  methods.filter((method) => method === "GET" || method === "POST").map((method) => ({ method, path })),
);

/** What the forms of any address take. */
const fields = {
  email: "ceo@example.com",
  code: "123456",
  token: "sess_0",
  id: "sess_0",
  name: "laptop",
  answer: "approve",
  user_code: "BCDF-GHJK",
  grant_type: "refresh_token",
  refresh_token: "made-up",
  client_id: "https://app.example.com/client.json",
};
const toolCall = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "get_entitlement", arguments: {} },
};

describe.each(illStores)("while the store is ill, on $name", async ({ name, prepare }) => {
  const ill = await prepare();
  const settings = { ...ill.environment, SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1" };
  const service = await startService(settings, { expectErrors: true });
  await service.ready();
  let browser: Browser;
  let headers: Record<string, string>;
  beforeAll(async () => {
    browser = await Browser.admit(service, fields.email, "--plan", "licensed");
    headers = { authorization: `Bearer ${await service.token(fields.email)}` };
  });

  let asks = 0;

  /** Asks an address as the browser, or with a token where it takes one, from an address of its own. */
  async function ask({ method, path }: (typeof asked)[number]) {
    asks++;
    const from = { "x-forwarded-for": `10.${asks >> 8}.${asks & 255}.1` };
    if (path.startsWith("/api") || path.startsWith("/mcp")) {
      const body = path.includes("mcp") ? JSON.stringify(toolCall) : "";
      const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
      return service.ask(path, { method, headers: { ...headers, ...from, ...(body && accept) }, body });
    }
    const cookie = `${browser.cookie}; office-code=made-up; office-probe=1`;
    return method === "GET"
      ? service.ask(path, { headers: { ...from, cookie } })
      : service.submit(path, fields, { headers: { ...from, cookie } });
  }

  it("no address fails unexpectedly, whether it is away, frozen, read-only or slow", async () => {
    for (const [state, [begin, end]] of Object.entries(ill.states)) {
      service.forgetLog();
      await begin(service);
      const answers = await Promise.all(asked.map(async (to) => ({ ...to, ...(await ask(to)) })));
      for (const { method, path, status, headers, text } of answers) {
        const what = `${state}: ${method} ${path}: ${text.slice(0, 200)}`;
        expect(status, what).not.toBe(500);
        expect(status === 401 && !path.startsWith("/oauth"), what).toBe(false);
        if (status >= 500 && !text.includes("not set up"))
          expect(headers["retry-after"], what).toMatch(/^\d+$/);
      }
      const statusOf = (wanted: string) => answers.find(({ path }) => path === wanted)?.status;
      for (const path of ["/ready", "/api/health"]) expect(statusOf(path), `${state}: ${path}`).toBe(200);
      // All connections to the store end at once, so some of the requests above may fail; a later one is answered.
      if (state === "read-only")
        await eventually(async () =>
          expect((await service.ask("/api/entitlement", { headers })).status).toBe(200),
        );
      await end(service);
      await eventually(async () =>
        expect((await service.ask("/api/entitlement", { headers })).status).toBe(200),
      );
      await eventually(async () => expect((await browser.submit("/sign-in/renew")).status).toBe(204));
      expect(service.log, state).not.toContain("unexpected failure");
    }
  });

  if (name === "PostgreSQL")
    it("no passkey is called unknown while it is only read: a copy might not have the newest", async () => {
      const [begin, end] = ill.states["read-only"] ?? [];
      const isSignalled = async () => (await browser.open("/home/access")).text.includes("data-accepted=");
      expect(await isSignalled()).toBe(true);
      await begin?.(service);
      await eventually(async () =>
        expect((await service.ask("/api/entitlement", { headers })).status).toBe(200),
      );
      const refused = await signInWith(new Browser(service), new Authenticator(service.url));
      const wasSignalled = await isSignalled();
      await end?.(service);
      expect(wasSignalled, "a browser deletes what is not named").toBe(false);
      expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, "invalid_request"]);
    });
});
