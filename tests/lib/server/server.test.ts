import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { htmlPage } from "@/app/(pages)/html-page";
import { concurrency } from "@/lib/config/limits";
import type { HandlerRequest } from "@/lib/http/handler";
import { pages } from "@/lib/http/pages";
import type { ResponseParts } from "@/lib/http/response";
import { createFrontServer } from "@/lib/server/server";
import { createFolder } from "@/tests/support/leash";
import { listen } from "@/tests/support/port";

Object.assign(process.env, {
  APP_URL: "https://office.example.com",
  TRUSTED_PROXY_HOPS: "1",
  DATA_DIR: createFolder(),
  SIGN_IN: "local",
});
const page = () => ({ status: 200, body: "a page" });
const render = vi.fn<(call: HandlerRequest) => Promise<ResponseParts>>();
const invitation = htmlPage(pages.invitation, (call) => render(call));
vi.mock("@/app/routes", async (load) => {
  const { handlerAt } = await load<typeof import("@/app/routes")>();
  return { handlerAt: (path: string) => (path === "/invitation" ? invitation : handlerAt(path)) };
});
const server = createFrontServer();
const port = await listen(server);
afterEach(() => render.mockReset());

const ask = (path: string, from: string, accept = "*/*") =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { "X-Forwarded-For": from, Accept: accept } });

describe("a page that is rendered for each request", () => {
  it("is a 429 when an address has used up its limit", async () => {
    render.mockImplementation(async () => page());
    for (let asked = 0; asked < 300; asked += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask("/invitation", "192.0.2.2")));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    }
    const refused = await ask("/invitation", "192.0.2.2");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("cache-control")).toBe("no-store");
    for (const path of ["/docs", "/favicon.ico"]) {
      expect((await ask(path, "192.0.2.2")).status, "what is the same for everyone is not counted").toBe(200);
    }
    expect((await ask("/invitation", "192.0.2.3")).status).toBe(200);
  });

  it.each([
    ["an ApiError for a program", "*/*", '"code":"unavailable"'],
    [
      "a page that reloads itself for a browser",
      "text/html,*/*;q=0.8",
      '<meta http-equiv="refresh" content="2">',
    ],
  ])("waits for its turn; beyond what may wait it is %s", async (_, accept, said) => {
    const from = `192.0.2.${accept.length}`;
    const ends: (() => void)[] = [];
    render.mockImplementation(() => new Promise((resolve) => ends.push(() => resolve(page()))));
    const { atOncePerClient, waitingPerClient } = concurrency;
    const refused: Response[] = [];
    const all = Array.from({ length: atOncePerClient + waitingPerClient + 3 }, async () => {
      const answer = await ask("/invitation", from, accept);
      if (answer.status === 429) refused.push(answer);
      return answer.status;
    });
    await vi.waitFor(() => expect(refused).toHaveLength(3));
    for (const answer of refused) {
      expect(answer.headers.get("retry-after")).toBe("2");
      expect(await answer.text()).toContain(said);
    }
    expect(render).toHaveBeenCalledTimes(atOncePerClient);
    render.mockImplementation(async () => page());
    for (const end of ends) end();
    expect((await Promise.all(all)).filter((status) => status === 200)).toHaveLength(all.length - 3);
  });

  it("is not rendered for a client that goes away before its turn", async () => {
    const ends: (() => void)[] = [];
    render.mockImplementation(() => new Promise((resolve) => ends.push(() => resolve(page()))));
    const accepted: Socket[] = [];
    server.on("connection", (socket) => accepted.push(socket));
    const sockets = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        socket.write("GET /invitation HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.4\r\n\r\n");
        return socket;
      }),
    );
    await vi.waitFor(() => expect(render).toHaveBeenCalledTimes(2));
    for (const socket of sockets) socket.resetAndDestroy();
    await vi.waitFor(() =>
      expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true]),
    );
    for (const end of ends) end();
    await new Promise(setImmediate);
    expect(render).toHaveBeenCalledTimes(2);
  });
});
