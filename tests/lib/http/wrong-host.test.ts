import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/block";
import { reservePort } from "@/tests/support/port";
import { sendTo } from "@/tests/support/service";
import { unconfigured } from "@/tests/support/unconfigured";

const appUrl = "https://office.example.com";
const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("a page under another host than APP_URL's", async () => {
  const service = await startService({ APP_URL: appUrl, SIGN_IN: "local" });
  await service.ready();

  const statusFor = async (headers: Record<string, string>, path = "/docs") =>
    (await service.ask(path, { headers: { ...browser, ...headers } })).status;

  it("answers a browser 421, with a link to the same page at the right host", async () => {
    const headers = { ...browser, host: "old-office.example.org" };
    const answer = await service.ask('/unsubscribe?token=a&b="c"', { headers });
    expect(answer.status).toBe(421);
    expect(answer.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "referrer-policy": "no-referrer",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    expect(answer.text).toContain(
      `<a href="${appUrl}/unsubscribe?token=a&#38;b=&#34;c&#34;">office.example.com</a>`,
    );
    expect(answer.text).not.toContain("old-office");
    const head = await service.ask("/docs", { method: "HEAD", headers });
    expect(head).toMatchObject({ status: 421, text: "" });
  });

  it("leads a browser from the host with a dot at its end to the host without", async () => {
    for (const host of ["office.example.com.", "OFFICE.example.com.:443"]) {
      const headers = { ...browser, host };
      const { status, headers: sent } = await service.ask("/docs/search?q=a%20b", { headers });
      expect({ status, to: sent.location }).toEqual({ status: 308, to: `${appUrl}/docs/search?q=a%20b` });
    }
    expect(await statusFor({ host: "office.example.com." }, "/api/health")).toBe(200);
  });

  it.each([
    ["a path without a page", "/no/such/page", 404],
    ["the API", "/api/health", 200],
    ["readiness", "/ready", 200],
    ["a publication", "/openapi.json", 200],
    ["a file", "/pages.css", 200],
  ])("leaves %s as it is", async (_, path, status) => {
    expect(await statusFor({ host: "old-office.example.org" }, path)).toBe(status);
  });

  it("leaves programs as they are", async () => {
    expect(await statusFor({ host: "old-office.example.org", accept: "*/*" })).toBe(200);
  });

  it.each([
    ["the host of APP_URL", { host: "office.example.com" }],
    ["the host of APP_URL in another spelling", { host: "OFFICE.example.com:443" }],
    ["an address, as health checks use", { host: "10.0.0.7:3000" }],
    ["a loopback name", { host: "localhost:3000" }],
    ["a name of the local network", { host: "office:3000" }],
    ["no host at all", { host: "" }],
    ["a host that cannot be read", { host: "office.example.com", "x-forwarded-host": "a b.example.org" }],
    [
      "a proxy's host, with the browser's",
      { host: "pool.example.net", "x-forwarded-host": "office.example.com" },
    ],
    [
      "the browser's host before those of proxies, as Spring's gateway joins them",
      { host: "pool.example.net", "x-forwarded-host": "office.example.com,gateway.example.net" },
    ],
    ["a host that a proxy has replaced", { host: "pool.example.net", via: "1.1 proxy" }],
    ["a link on one of our pages", { host: "pool.example.net", referer: `${appUrl}/docs` }],
  ])("shows the page for %s", async (_, headers) => {
    expect(await statusFor(headers)).toBe(200);
  });

  it("uses the browser's host where a proxy reports it", async () => {
    const headers = { host: "office.example.com", "x-forwarded-host": "old-office.example.org" };
    expect(await statusFor(headers)).toBe(421);
  });
});

it("the office is at its host in each spelling, and at no other", async () => {
  const port = await reservePort();
  const office = { OFFICE_PORT: String(port), OFFICE_URL: "https://desk.example.com" };
  const service = await startService({ APP_URL: appUrl, SIGN_IN: "local", ...office });
  await service.ready();
  const statusAt = async (host: string) => (await sendTo(port, "/enter", { headers: { host } })).status;
  for (const host of ["desk.example.com", "DESK.example.com", "desk.example.com:443"])
    expect(await statusAt(host), host).toBe(200);
  for (const host of ["desk.example.com:80", "desk.example.com.evil.example", "", "a b", "10.0.0.7"])
    expect(await statusAt(host), host).not.toBe(200);
});

it("a service on loopback shows its pages under every host", async () => {
  const headers = { ...browser, host: "old-office.example.org" };
  expect((await (await unconfigured()).ask("/docs", { headers })).status).toBe(200);
});
