import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { mcpServer, operations } from "@/lib/api/operations";
import { bodyLimits, connectionBounds } from "@/lib/settings/limits";
import { eventually } from "@/tests/support/databases";
import { makeFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { memoryOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";

const { health, unsubscribe } = operations;
let service: Service;
beforeAll(async () => {
  service = await Service.start({ SIGN_IN: "local", RATE_LIMIT_HEALTH: "100000", RATE_LIMIT_MCP: "100000" });
  await service.ask("/sign-in");
});
afterAll(() => service.stop());

const opened: Socket[] = [];
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

async function open(from = "127.0.0.1", port = service.port): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  opened.push(socket.on("error", () => {}));
  await once(socket, "connect");
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const lastGet = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
const statuses = (received: string) => received.match(/(?<=HTTP\/1\.1 )\d{3}/g);

describe("requests in a pipeline", () => {
  it("are answered one after the other, in their order, refusals and pages among them", async () => {
    const received = await service.send(
      get("/sign-in") + get(health.path) + get("/api/x") + get("/sign-in") + lastGet(health.path),
    );
    expect(statuses(received)).toEqual(["200", "200", "404", "200", "200"]);
  });

  it("are all answered, however many are sent at once, and cost nobody else their answer", async () => {
    const burst = await open();
    burst.write(get(health.path).repeat(4999) + lastGet(health.path));
    const received = text(burst);
    const startedAtMs = performance.now();
    expect((await service.ask(health.path)).status).toBe(200);
    expect(performance.now() - startedAtMs).toBeLessThan(8000);
    expect(statuses(await received)).toEqual(new Array(5000).fill("200"));
  });

  it("are not begun once their client is gone", async () => {
    const { length: before } = service.log.split('"path":"/sign-in"');
    const socket = await open();
    socket.write(get("/sign-in").repeat(64));
    await once(socket, "data");
    socket.destroy();
    await service.ask("/sign-in");
    await sleep(300);
    const { length: after } = service.log.split('"path":"/sign-in"');
    // How many had their turn before it was gone is the machine's affair.
    expect(after - before).toBeLessThan(60);
  });
});

describe("a body", () => {
  const announce = (method: string, path: string, bytes: number, more = "") =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost:${service.port}\r\nContent-Length: ${bytes}\r\n${more}\r\n`;
  const tenMebibytes = 10 * 1024 * 1024;

  it.each([
    ["GET", health.path, 200],
    ["GET", "/sign-in", 200],
    ["POST", health.path, 405],
    ["POST", "/sign-in", 405],
    ["POST", "/nothing", 404],
  ])("of 10 MiB is not waited for where none is taken: %s %s is %i at once", async (method, path, status) => {
    const socket = await open();
    const received = text(socket);
    socket.write(announce(method, path, tenMebibytes));
    expect(statuses(await received)).toEqual([String(status)]);
    expect((await received).toLowerCase()).toContain("connection: close");
  });

  it.each([
    ["/sign-in/send", bodyLimits.form, { Origin: true }],
    [`${unsubscribe.path}?token=x`, bodyLimits.unsubscribe, {}],
    ["/unsubscribe?token=x", bodyLimits.unsubscribe, { Origin: true }],
    ["/hooks/resend", bodyLimits.webhook, {}],
    [mcpServer.paths[0], bodyLimits.mcp, { "Content-Type": "application/json" }],
  ])(
    "over its bound is refused unread at %s, and as it comes when it did not say so",
    async (path, bound, sent) => {
      const headers = Object.entries(sent).map(
        ([name, value]) => `${name}: ${value === true ? service.url : value}\r\n`,
      );
      const socket = await open();
      socket.write(announce("POST", path, bound + 1, headers.join("")));
      expect(statuses(await text(socket))).toEqual(["413"]);

      const chunked = await open();
      chunked.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost:${service.port}\r\nTransfer-Encoding: chunked\r\n${headers.join("")}\r\n`,
      );
      const answer = text(chunked);
      const piece = `1000\r\n${"x".repeat(0x1000)}\r\n`;
      for (let sentBytes = 0; sentBytes <= bound; sentBytes += 0x1000) chunked.write(piece);
      expect(statuses(await answer)).toEqual(["413"]);
    },
  );

  it("is asked for only where it is taken and within its bound (RFC 9110 §10.1.1)", async () => {
    const firstWords = async (path: string, bytes: number) => {
      const socket = await open();
      socket.write(announce("POST", path, bytes, "Expect: 100-continue\r\n"));
      const [first] = await once(socket, "data");
      return String(first).split("\r\n")[0];
    };
    expect(await firstWords(`${unsubscribe.path}?token=x`, 3)).toBe("HTTP/1.1 100 Continue");
    expect(await firstWords(`${unsubscribe.path}?token=x`, tenMebibytes)).toBe(
      "HTTP/1.1 413 Payload Too Large",
    );
    expect(await firstWords(health.path, 3)).toBe("HTTP/1.1 405 Method Not Allowed");
    expect(await firstWords("/api/x", 3)).toBe("HTTP/1.1 404 Not Found");
  });

  it("costs no memory: 40 connections that each press 2 MiB on a form that takes 4 KiB", async () => {
    const before = memoryOf(service.pid).now;
    const mebibytes = Buffer.alloc(2 * 1024 * 1024, "x");
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = await open();
        socket.write(`POST /sign-in/send HTTP/1.1\r\nHost: x\r\nOrigin: ${service.url}\r\n`);
        socket.write(`Transfer-Encoding: chunked\r\n\r\n200000\r\n`);
        socket.write(mebibytes);
        // It may learn of the end by a write that fails.
        if (!socket.closed) await new Promise((closed) => socket.resume().once("close", closed));
      }),
    );
    expect(memoryOf(service.pid).now - before).toBeLessThan(60);
    expect((await service.ask(health.path)).status).toBe(200);
  });
});

describe("connections", () => {
  it("from one address are bounded, and those of others are not kept out", async () => {
    const sockets = await Promise.all(
      Array.from({ length: connectionBounds.perAddress }, () => open("127.0.4.1")),
    );
    const oneTooMany = await open("127.0.4.1");
    if (!oneTooMany.closed) await once(oneTooMany, "close");
    expect((await service.ask(health.path, { from: "127.0.4.2" })).status).toBe(200);
    sockets[0]?.destroy();
    await eventually(async () =>
      expect((await service.ask(health.path, { from: "127.0.4.1" })).status).toBe(200),
    );
  });

  it("over what the system lets us open are refused, and none is left hanging", async () => {
    const program = join(makeFolder(), "few-files.sh");
    const port = await reservePort();
    const { PATH } = process.env;
    const env = { PATH, NODE_ENV: "production", PORT: `${port}`, DATA_DIR: makeFolder() } as const;
    writeFileSync(program, "ulimit -n 300 && exec node dist/front/main.js");
    const child = spawnLeashed("sh", [program], { env, stdio: "ignore" });
    await eventually(() => open("127.0.0.1", port));
    for (const socket of opened.splice(0)) socket.destroy();

    const sockets: Socket[] = [];
    for (let n = 0; n < 400; n++) sockets.push(await open(`127.0.5.${n % 200}`, port));
    await eventually(() => expect(sockets.filter(({ closed }) => closed).length).toBeGreaterThan(350));
    const [served] = sockets.filter(({ closed }) => !closed);
    served?.write(get(health.path));
    expect(statuses(String(await once(served as Socket, "data")))).toEqual(["200"]);
    child.kill();
  });
});
