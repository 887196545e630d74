import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { trustForwardedPeer } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { JoinedMessage } from "@/lib/server/joined-message";
import type { PageRenderer } from "@/lib/server/page-renderer";
import { createPageHandler } from "@/lib/server/render-page";
import { createFolder } from "@/tests/support/leash";

const page = { status: 200, headers: ["x-page", "1"], content: Buffer.from("a page") };
const render = vi.fn<PageRenderer["render"]>();
let server: ReturnType<typeof createServer>;
let url: string;

beforeAll(async () => {
  vi.stubEnv("APP_URL", "https://office.example.com");
  vi.stubEnv("TRUSTED_PROXY_HOPS", "1");
  vi.stubEnv("DATA_DIR", createFolder());
  trustForwardedPeer();
  const show = createPageHandler({ render } as unknown as PageRenderer);
  server = createServer({ IncomingMessage: JoinedMessage }, (incoming, outgoing) => {
    const from = incoming.headers["x-from"] ?? "192.0.2.1";
    incoming.headers["x-forwarded-for"] = `6.6.6.6, ${from}, 10.0.0.1`;
    show(incoming, outgoing);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  vi.unstubAllEnvs();
});
afterEach(() => render.mockReset());

describe("the page renderer", () => {
  it("gets the headers that pages read and our own origin, and nothing else that a client sends", async () => {
    render.mockResolvedValue(page);
    const believed = { Cookie: "a=1; __session=1", Accept: "text/html", RSC: "1", "X-Request-Id": "r-1" };
    const forged = {
      "X-Middleware-Subrequest": "middleware:middleware",
      "X-Middleware-Rewrite": "/home",
      "X-Invoke-Path": "/home",
      "X-Matched-Path": "/home",
      "Next-Action": "x",
      "X-Nextjs-Data": "1",
      "X-Nextjs-Rewritten-Path": "/home",
      "X-Now-Route-Matches": "1",
      "X-Vercel-Id": "1",
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "gopher",
      "X-Real-IP": "6.6.6.6",
      "X-Clerk-Auth-Status": "signed-in",
    };
    const answer = await fetch(`${url}/sign-in?x=1`, { headers: { ...believed, ...forged } });
    expect(answer.headers.get("x-page")).toBe("1");
    expect(await answer.text()).toBe("a page");
    const [incoming, headers] = render.mock.calls[0] as [IncomingMessage, Record<string, string>];
    expect(incoming.url).toBe("/sign-in?x=1");
    expect(headers).toEqual({
      accept: "text/html",
      "accept-encoding": expect.any(String),
      "accept-language": "*",
      cookie: "__session=1",
      host: "office.example.com",
      rsc: "1",
      "sec-fetch-mode": "cors",
      "user-agent": expect.any(String),
      "x-forwarded-for": "192.0.2.1",
      "x-forwarded-host": "office.example.com",
      "x-forwarded-proto": "https",
      "x-request-id": "r-1",
    });
  });
});

describe("a POST to a page", () => {
  it("is forwarded with its body and headers, up to the size limit of a form", async () => {
    render.mockResolvedValue(page);
    const post = (body: string) =>
      fetch(`${url}/sign-in`, {
        method: "POST",
        headers: { "Next-Action": "a1", "Content-Type": "text/plain" },
        body,
      });
    expect((await post("[]")).status).toBe(200);
    const [asked, headers] = render.mock.calls[0] ?? [];
    expect(asked).toEqual({ method: "POST", url: "/sign-in", body: Buffer.from("[]") });
    expect(headers).toMatchObject({ "next-action": "a1", "content-type": "text/plain" });
    expect((await post("x".repeat(4 * 1024 + 1))).status).toBe(413);
    expect(render).toHaveBeenCalledTimes(1);
  });
});

describe("a page that cannot be shown", () => {
  it("is a 503: an ApiError for a program, a page that reloads itself for a browser", async () => {
    const said = vi.spyOn(log(), "warn").mockReturnValue();
    render.mockRejectedValue(new Error("away"));
    const toProgram = await fetch(`${url}/invitation`, { headers: { Accept: "*/*" } });
    expect(toProgram.status).toBe(503);
    expect(toProgram.headers.get("retry-after")).toBe("5");
    expect(toProgram.headers.get("cache-control")).toBe("no-store");
    expect(await toProgram.json()).toMatchObject({ error: { code: "unavailable" } });
    const toPerson = await fetch(`${url}/invitation`, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect(toPerson.status).toBe(503);
    expect(toPerson.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await toPerson.text()).toContain('<meta http-equiv="refresh" content="5">');
    expect(said).toHaveBeenCalledTimes(2);
    said.mockRestore();
  });

  it("is a 429 when an address has used up its limit", async () => {
    render.mockResolvedValue(page);
    const ask = (path: string, from: string) => fetch(url + path, { headers: { "X-From": from } });
    for (let n = 0; n < 300; n++) {
      expect((await ask("/invitation", "192.0.2.2")).status).toBe(200);
    }
    const refused = await ask("/invitation", "192.0.2.2");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(await refused.json()).toMatchObject({ error: { code: "unavailable" } });
    for (const path of ["/docs", "/favicon.ico"]) {
      expect((await ask(path, "192.0.2.2")).status, "what is the same for everyone is not counted").toBe(200);
    }
    expect((await ask("/invitation", "192.0.2.3")).status).toBe(200);
  });
});

describe("a client that goes away", () => {
  it("before its turn gets no page rendered", async () => {
    const ends: (() => void)[] = [];
    render.mockImplementation(() => new Promise((resolve) => ends.push(() => resolve(page))));
    const { port } = server.address() as AddressInfo;
    const accepted: Socket[] = [];
    server.on("connection", (socket) => accepted.push(socket));
    const sockets = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        socket.write("GET /invitation HTTP/1.1\r\nHost: x\r\nX-From: 192.0.2.4\r\n\r\n");
        return socket;
      }),
    );
    await vi.waitFor(() => expect(render).toHaveBeenCalledTimes(2));
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(() =>
      expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true]),
    );
    for (const end of ends) end();
    await new Promise(setImmediate);
    expect(render).toHaveBeenCalledTimes(2);
  });
});
