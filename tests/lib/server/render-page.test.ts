import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createHandler, type Handler, type RouteHandler } from "@/lib/http/handler";
import { IncomingRequest } from "@/lib/http/incoming-request";
import { pages } from "@/lib/http/pages";
import { trustForwardedPeer } from "@/lib/rate-limit/client-address";
import { log } from "@/lib/runtime/log";
import { JoinedMessage } from "@/lib/server/joined-message";
import { createPageHandler } from "@/lib/server/render-page";
import { createFolder } from "@/tests/support/leash";
import { listen } from "@/tests/support/port";

const page = () => ({ status: 200, body: "a page" });
const render = vi.fn<Handler>();
const handleInvitation = createHandler(pages.invitation, (call) => render(call, undefined));
const handle = vi.fn<RouteHandler>();
vi.mock("@/app/routes", async (load) => {
  const { handlerAt } = await load<typeof import("@/app/routes")>();
  return { handlerAt: (path: string) => (path === "/invitation" ? handle : handlerAt(path)) };
});
const APP_URL = "https://office.example.com";
Object.assign(process.env, { APP_URL, TRUSTED_PROXY_HOPS: "1", DATA_DIR: createFolder() });
trustForwardedPeer();
const show = createPageHandler();
const server = createServer({ IncomingMessage: JoinedMessage }, (incoming, outgoing) => {
  const from = incoming.headers["x-from"] ?? "192.0.2.1";
  incoming.headers["x-forwarded-for"] = `6.6.6.6, ${from}, 10.0.0.1`;
  show(incoming, outgoing, new IncomingRequest(incoming, APP_URL + incoming.url, outgoing));
});
const port = await listen(server);
const url = `http://127.0.0.1:${port}`;
beforeEach(() => {
  handle.mockImplementation(handleInvitation);
});
afterEach(() => render.mockReset());

describe("a page that cannot be shown", () => {
  it("is a 503: an ApiError for a program, a page that reloads itself for a browser", async () => {
    const said = vi.spyOn(log(), "warn").mockReturnValue();
    handle.mockRejectedValue(new Error("away"));
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
    render.mockImplementation(async () => page());
    const ask = (path: string, from: string) => fetch(url + path, { headers: { "X-From": from } });
    for (let asked = 0; asked < 300; asked += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask("/invitation", "192.0.2.2")));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    }
    const refused = await ask("/invitation", "192.0.2.2");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: "unavailable" } });
    for (const path of ["/docs", "/favicon.ico"]) {
      expect((await ask(path, "192.0.2.2")).status, "what is the same for everyone is not counted").toBe(200);
    }
    expect((await ask("/invitation", "192.0.2.3")).status).toBe(200);
  });
});

it("a client that goes away before its turn gets no page rendered", async () => {
  const ends: (() => void)[] = [];
  render.mockImplementation(() => new Promise((resolve) => ends.push(() => resolve(page()))));
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
