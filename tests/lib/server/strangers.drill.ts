import { describe, expect, it, vi } from "vitest";
import { startService } from "@/tests/support/block";
import { Browser } from "@/tests/support/browser";
import { type Flood, flood, networks } from "@/tests/support/flood";
import { makeKeyHolder } from "@/tests/support/key-holder";
import { median } from "@/tests/support/timing";

const service = await startService({
  SIGN_IN: "local",
  TRUSTED_PROXY_HOPS: "1",
  APP_URL: "http://localhost:3000",
  STRIPE_SECRET_KEY: "sk_test_x",
  STRIPE_WEBHOOK_SECRET: "whsec_0123456789abcdef",
  STRIPE_LICENCE_PRICES: "price_1",
});
await service.ready();
const owner = await Browser.admit(service, "ceo@example.com");

const bearerOf = async (email: string) => ({
  authorization: `Bearer ${(await service.adminJson<{ token: string }>("token", email)).token}`,
});
await service.adminJson("account", "add", "other@example.com", "--plan", "licensed");
const others = await bearerOf("other@example.com");

/** What a page answers again and again, and the milliseconds that its answers took: the middle one, and 95 of a hundred. */
async function repeat(times: number, open: () => Promise<{ status: number }>) {
  const statuses = new Map<number, number>();
  const tookMs: number[] = [];
  for (let n = 0; n < times; n++) {
    const beganAtMs = performance.now();
    const { status } = await open();
    tookMs.push(performance.now() - beganAtMs);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const most = tookMs.toSorted((one, other) => one - other)[Math.floor(times * 0.95)] ?? 0;
  return { statuses: Object.fromEntries(statuses), middle: median(tookMs), most };
}

describe("pages that are rendered for each request", () => {
  const path = "/docs/search?q=entitlement";

  it.each([
    ["three addresses", ["192.0.2.1", "192.0.2.2", "192.0.2.3"], 150],
    ["a hundred networks", networks(100), 200],
  ])(
    "come to an owner within a second while %s do their worst, who pay for what is refused",
    async (_, addresses, connections) => {
      const strangers = flood(service, { path, addresses, connections });
      const seen = await repeat(40, () => owner.open("/home"));
      const newcomer = await repeat(10, () =>
        service.ask("/docs/search?q=credits", { headers: { "x-forwarded-for": "198.51.100.7" } }),
      );
      // Until the limits of the three are used up.
      if (addresses.length < 100) {
        await vi.waitUntil(() => strangers.statuses.has(429), { timeout: 60_000 });
        expect(newcomer.statuses, "and to a newcomer").toEqual({ 200: 10 });
      }
      await strangers.stop();
      expect(seen.statuses).toEqual({ 200: 40 });
      expect(seen.most).toBeLessThan(1000);
    },
    180_000,
  );
});

describe("searches by MCP", () => {
  const headers = { "content-type": "application/json", host: new URL(service.url).host };
  const body = (n: number) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: n,
      method: "tools/call",
      params: { name: "search_docs", arguments: { query: `limits of requests quota headers errors ${n}` } },
    });

  it.each([
    ["one /48", 1, 3],
    ["ten /48s", 10, 10],
  ])("from %s leave an app its entitlement", async (_, count, most) => {
    const token = await bearerOf("ceo@example.com");
    const ask = () => repeat(200, () => service.ask("/api/entitlement", { headers: token }));
    await ask();
    const alone = await ask();
    const addresses = Array.from(
      { length: 250 * count },
      (_, n) => `2001:db8:${(0x1000 * count + (n % count)).toString(16)}:${n.toString(16)}::1`,
    );
    const strangers = flood(service, { path: "/mcp", addresses, connections: 32, headers, body });
    const beside = await ask();
    const statuses = await strangers.stop();
    expect(beside.statuses).toEqual({ 200: 200 });
    expect(statuses.get(200)).toBeGreaterThan(0);
    expect(beside.middle / alone.middle).toBeLessThan(most);
  });
});

describe("a hundred networks that send as fast as they can", () => {
  const mcp = { "content-type": "application/json", host: new URL(service.url).host };
  const list = (n: number) => JSON.stringify({ jsonrpc: "2.0", id: n, method: "tools/list" });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const ownForm = { ...form, origin: service.url, cookie: "office-probe=1" };
  const proofs = Array.from({ length: 60 }, () => makeKeyHolder(service.url).prove("POST", "/oauth/device"));
  const delivery = JSON.stringify({ a: "x".repeat(200_000) });
  const words = Array.from({ length: 1000 }, (_, n) => `limits${n}`).join("+");
  const code = (n: number) =>
    `grant_type=authorization_code&client_id=x&code=${n}&code_verifier=${"v".repeat(43)}`;

  it.each([
    [
      "MCP messages with one valid token",
      { path: "/mcp/account", headers: { ...mcp, ...others }, body: list },
    ],
    ["exchanges of codes that were never given", { path: "/oauth/token", headers: form, body: code }],
    ["device codes", { path: "/oauth/device", headers: form, body: () => "client_id=native" }],
    [
      "sign-in forms",
      { path: "/sign-in/send", headers: ownForm, body: (n: number) => `email=${n}@example.com` },
    ],
    [
      "joins of the waitlist",
      { path: "/waitlist/join", headers: ownForm, body: (n: number) => `email=${n}@example.net` },
    ],
  ])(
    "%s pass an app's request by tens and not by hundreds, and a newcomer's comes within a second",
    async (_, request) => {
      const token = await bearerOf("ceo@example.com");
      await repeat(5, () => service.ask("/api/entitlement", { headers: token }));
      const strangers = flood(service, { ...request, addresses: networks(100), connections: 100 });
      const answered = () => [...strangers.statuses.values()].reduce((sum, count) => sum + count, 0);
      await vi.waitUntil(() => answered() > 200, { timeout: 60_000 });
      const passed: number[] = [];
      const seen = await repeat(40, async () => {
        const before = answered();
        const answer = await service.ask("/api/entitlement", { headers: token });
        passed.push(answered() - before);
        return answer;
      });
      const newcomer = await repeat(5, () =>
        service.ask("/api/health", { headers: { "x-forwarded-for": "198.51.100.7" } }),
      );
      await strangers.stop();
      expect(seen.statuses).toEqual({ 200: 40 });
      expect(median(passed)).toBeLessThan(30);
      expect(newcomer.statuses).toEqual({ 200: 5 });
      expect(newcomer.middle).toBeLessThan(1000);
    },
    180_000,
  );

  const dear: [string, Omit<Flood, "addresses" | "connections">][] = [
    [
      "device codes for a key each",
      {
        path: "/oauth/device",
        headers: (n: number) => ({ ...form, dpop: proofs[n % proofs.length] }),
        body: () => "client_id=native",
      },
    ],
    [
      "deliveries of 200 KB to Stripe's webhook",
      {
        path: "/hooks/stripe",
        headers: {
          "content-type": "application/json",
          "stripe-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"a".repeat(64)}`,
        },
        body: () => delivery,
      },
    ],
    ["search pages", { path: `/docs/search?q=${words}` }],
  ];
  it.each(dear)(
    "%s leave an app its entitlement in less than ten times its time",
    async (_, request) => {
      const token = await bearerOf("ceo@example.com");
      const ask = () => repeat(100, () => service.ask("/api/entitlement", { headers: token }));
      await ask();
      const alone = await ask();
      const strangers = flood(service, { ...request, addresses: networks(100), connections: 100 });
      await vi.waitUntil(() => strangers.statuses.size > 0, { timeout: 60_000 });
      const beside = await ask();
      await strangers.stop();
      expect(beside.statuses).toEqual({ 200: 100 });
      expect(beside.middle / alone.middle).toBeLessThan(10);
    },
    180_000,
  );

  it("leave their answers to an honest client of the same network: it waits a fifth of a second at most", async () => {
    const strangers = flood(service, {
      path: "/api/nothing",
      addresses: ["2001:db8:77:1::1"],
      connections: 100,
    });
    await vi.waitUntil(() => (strangers.statuses.get(404) ?? 0) > 500, { timeout: 60_000 });
    const neighbour = await repeat(20, () =>
      service.ask("/api/nothing", { headers: { "x-forwarded-for": "2001:db8:77:2::1" } }),
    );
    await strangers.stop();
    expect(neighbour.statuses).toEqual({ 404: 20 });
    expect(neighbour.middle).toBeLessThan(200);
  });
});
