import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import { Connections } from "@/lib/server/connections";
import { listen } from "@/tests/support/port";

const withinMs = 400;
const mebibyte = Buffer.alloc(1024 * 1024);

function limit(server: Server, bounds: { withinMs: number; unreadBytes: number }): void {
  const connections = new Connections(server, { ...bounds, bytesPerSecond: 1024 ** 3 }, 50);
  server.on("request", (incoming, outgoing) => connections.begin(incoming, outgoing));
}

describe("an exchange past its deadline", async () => {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === "/never") return;
    outgoing.end(incoming.url === "/large" ? Buffer.concat(Array(32).fill(mebibyte)) : "small");
  });
  limit(server, { withinMs, unreadBytes: Number.POSITIVE_INFINITY });
  const port = await listen(server);
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  async function ask(path: string): Promise<{ socket: Socket; closed: Promise<unknown> }> {
    const socket = connect(port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.once("error", resolve).once("close", resolve));
    await once(socket, "connect");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return { socket, closed };
  }

  it("is reset when the client reads a byte now and then", async () => {
    const connected = once(server, "connection");
    const { socket } = await ask("/large");
    socket.pause();
    const [atServer] = await connected;
    const reading = setInterval(() => socket.read(1), 20);
    await once(atServer, "close");
    clearInterval(reading);
    socket.destroy();
  });

  it("is reset when there is no response", async () => {
    const { socket, closed } = await ask("/never");
    socket.resume();
    expect(await closed).toMatchObject({ code: "ECONNRESET" });
  });

  it("does not include a response that was read, however long the connection stays open", async () => {
    const { socket, closed } = await ask("/small");
    socket.resume();
    const isClosed = await Promise.race([closed.then(() => true), sleep(3 * withinMs, false)]);
    expect(isClosed).toBe(false);
    socket.destroy();
  });

  it("is not reset before its deadline, however often deadlines are checked", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    const asked: ServerResponse[] = [];
    const patient = createServer((_, outgoing) => asked.push(outgoing));
    limit(patient, { withinMs: 60_000, unreadBytes: 0 });
    const answer = fetch(`http://127.0.0.1:${await listen(patient)}`);
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    vi.advanceTimersByTime(500);
    vi.useRealTimers();
    asked[0]?.end("late");
    expect(await (await answer).text()).toBe("late");
    patient.closeAllConnections();
    patient.close();
  });
});

it("responses that are not read are bounded in all: the oldest exchanges are reset", async () => {
  const server = createServer((_, outgoing) => outgoing.end(Buffer.concat(Array(32).fill(mebibyte))));
  limit(server, { withinMs: 60_000, unreadBytes: 70 * mebibyte.length });
  const port = await listen(server);
  const atServer: Socket[] = [];
  server.on("connection", (socket) => atServer.push(socket));
  const clients: Socket[] = [];
  for (let n = 0; n < 4; n++) {
    const client = connect(port, "127.0.0.1");
    clients.push(client.on("error", () => {}).pause());
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(server, "request");
  }
  await vi.waitFor(() =>
    expect(atServer.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]),
  );
  await sleep(200);
  expect(atServer.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
  for (const client of clients) client.destroy();
  server.close();
});
