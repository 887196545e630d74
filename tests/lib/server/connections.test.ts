import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { publications } from "@/lib/http/register/publications";
import { Connections } from "@/lib/server/connections";
import { startService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { reservePort } from "@/tests/support/port";
import { limitOpenFiles } from "@/tests/support/process-limits";
import { Service } from "@/tests/support/service";
import { startSmtpInbox } from "@/tests/support/smtp-inbox";

const { health, unsubscribe } = operations;
const port = await reservePort();
const service = await startService({
  PORT: `${port}`,
  APP_URL: `http://localhost:${port}`,
  SIGN_IN: "local",
  RATE_LIMIT_HEALTH: "100000",
  RATE_LIMIT_MCP: "100000",
  // Without a signing secret the webhook is refused before its body is read.
  RESEND_API_KEY: "re_test",
  RESEND_BASE_URL: "http://127.0.0.1:9",
  EMAIL_FROM: "office@example.com",
  RESEND_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, "k").toString("base64")}`,
});
await service.ask("/sign-in");
await service.adminJson("account", "add", "reader@example.com", "--plan", "licensed");
const [, token] = (await service.unsubscribePath("reader@example.com")).split("token=");

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
  it("are answered in order, including refusals and pages", async () => {
    const received = await service.send(
      get("/sign-in") + get(health.path) + get("/api/x") + get("/sign-in") + lastGet(health.path),
    );
    expect(statuses(received)).toEqual(["200", "200", "404", "200", "200"]);
  });

  it("are answered in order though their bytes come in pieces, each once a part of an answer has left", async () => {
    const paths = ["/sign-in", health.path, "/api/x", "/sign-in", "/api/x", health.path];
    const sent = [...paths, ...paths].map(get).join("") + lastGet("/sign-in");
    const expected = ["200", "200", "404", "200", "404", "200"];
    // From a request and a half on: there is always one in work, and one that has begun to come.
    for (const bytes of [67, 113, 200]) {
      const socket = await open();
      let left = sent;
      const sendMore = () => {
        socket.write(left.slice(0, bytes));
        left = left.slice(bytes);
      };
      socket.on("data", sendMore);
      const received = text(socket);
      sendMore();
      expect(statuses(await received), `${bytes} bytes`).toEqual([...expected, ...expected, "200"]);
    }
  });

  it("are all answered up to eight behind the one in work; of more that one read brings, the rest is refused", async () => {
    expect(statuses(await service.send(get(health.path).repeat(8) + lastGet(health.path)))).toEqual(
      new Array(9).fill("200"),
    );
    for (const path of [health.path, publications.sitemap.path]) {
      const received = await service.send(get(path).repeat(8) + "GET / HTTP/1.1\r\n\r\n".repeat(3500));
      expect(statuses(received)).toEqual([...new Array(8).fill("200"), "400", "429"]);
      expect(received).toMatch(/\r\nretry-after: 2\r\n.*connection: close\r\n\r\n\{.*\}$/s);
      expect(received).toContain('"message":"Too many requests: wait 2 seconds."');
    }
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
    ["/sign-in/send", 4 * 1024, { Origin: true, Cookie: "office-probe=1" }],
    [`${unsubscribe.path}?token=${token}`, 4 * 1024, {}],
    [`/unsubscribe?token=${token}`, 4 * 1024, { Origin: true }],
    ["/hooks/resend", 256 * 1024, {}],
    ["/mcp", 64 * 1024, { "Content-Type": "application/json" }],
  ])(
    "over its limit is refused at %s: unread if announced, otherwise while it arrives",
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

  it.each([4 * 1024 + 1, tenMebibytes])(
    "of %i bytes is not read by the redirect that sets a cookie",
    async (bytes) => {
      const socket = await open();
      const received = text(socket);
      socket.write(announce("POST", "/sign-in/send", bytes, `Origin: ${service.url}\r\n`));
      expect(await received).toMatch(
        /^HTTP\/1\.1 307 .*\r\nlocation: \/sign-in\/send\?probed\r\n.*\r\nconnection: close\r\n\r\n$/is,
      );
    },
  );

  it("gets a 100 Continue only where it is accepted and within its limit (RFC 9110 §10.1.1)", async () => {
    const firstWords = async (path: string, bytes: number) => {
      const socket = await open();
      socket.write(announce("POST", path, bytes, "Expect: 100-continue\r\n"));
      const [first] = await once(socket, "data");
      return String(first).split("\r\n")[0];
    };
    expect(await firstWords(`${unsubscribe.path}?token=${token}`, 3)).toBe("HTTP/1.1 100 Continue");
    expect(await firstWords(`${unsubscribe.path}?token=${token}`, tenMebibytes)).toBe(
      "HTTP/1.1 413 Payload Too Large",
    );
    expect(await firstWords(health.path, 3)).toBe("HTTP/1.1 405 Method Not Allowed");
    expect(await firstWords("/api/x", 3)).toBe("HTTP/1.1 404 Not Found");
  });
});

it("a private peer that sends X-Forwarded-For is logged once, because all its clients share one address", async () => {
  for (let n = 0; n < 3; n++)
    await service.ask(health.path, { headers: { "X-Forwarded-For": "198.51.100.1" } });
  await eventually(() => expect(service.log).toContain("but TRUSTED_PROXY_HOPS is 0"));
  expect(service.log.match(/but TRUSTED_PROXY_HOPS is 0/g)).toHaveLength(1);
});

describe("connections", () => {
  const answersOn = async (socket: Socket, more = "") => {
    socket.write(get(health.path).replace("\r\n\r\n", `\r\n${more}\r\n`));
    return statuses(String(await once(socket, "data")));
  };
  const askWithoutBody = async (socket: Socket, more = "") => {
    const host = `Host: localhost:${socket.remotePort}\r\nContent-Type: application/json\r\n`;
    socket.write(`POST /mcp HTTP/1.1\r\n${host}Content-Length: 3\r\nExpect: 100-continue\r\n${more}\r\n`);
    return statuses(String(await once(socket, "data")));
  };

  it.each([
    ["an address", {}, "", "127.0.4.1"],
    ["a forwarded /48", { TRUSTED_PROXY_HOPS: "1" }, "X-Forwarded-For: 2001:db8:1:%::1\r\n", "127.0.0.1"],
  ])("of %s hold at most 256 requests in work, and others are not cut", async (_, settings, line, from) => {
    const own = await Service.start({ RATE_LIMIT_HEALTH: "100000", RATE_LIMIT_MCP: "100000", ...settings });
    const headerOf = (n: number) => line.replace("%", n.toString(16));
    const work = async (_: unknown, n: number) => {
      const socket = await open(from, own.port);
      expect(await askWithoutBody(socket, headerOf(n))).toEqual(["100"]);
      return socket;
    };
    const working = await Promise.all(Array.from({ length: 256 }, work));
    const refused = await open(from, own.port);
    refused.write(
      `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n${headerOf(300)}\r\n`,
    );
    const received = await text(refused);
    expect(received).toMatch(/^HTTP\/1\.1 429 .*\r\nretry-after: 2\r\n.*\r\nconnection: close\r\n/is);
    expect(received).toContain('"message":"Too many requests: wait 2 seconds."');
    const other = line && "X-Forwarded-For: 192.0.2.9\r\n";
    expect(await answersOn(await open("127.0.4.2", own.port), other)).toEqual(["200"]);
    const [first, ...others] = working;
    first?.write("abc");
    expect(statuses(String(await once(first as Socket, "data")))).toEqual(["400"]);
    const ask = async () => askWithoutBody(await open(from, own.port), headerOf(301));
    expect(await ask(), "in the place of one that was answered").toEqual(["100"]);
    for (const socket of others) socket.destroy();
    await eventually(async () => expect(await ask(), "and of those that broke off").toEqual(["100"]));
    const again = await Promise.all(Array.from({ length: 200 }, ask));
    expect(new Set(again.flat()), "each of which was one").toEqual(new Set(["100"]));
    for (const socket of opened) socket.destroy();
    await own.stop();
  });

  /** Starts a service that may hold 44 connections: 300 files minus 256 reserved ones. */
  async function startSmall(files = 300) {
    const port = await reservePort();
    const program = join(createFolder(), "few-files.sh");
    const { PATH } = process.env;
    const env = {
      PATH,
      NODE_ENV: "production",
      PORT: `${port}`,
      DATA_DIR: createFolder(),
      SIGN_IN: "local",
    } as const;
    writeFileSync(program, `ulimit -n ${files} && exec node dist/server/main.js`);
    const child = spawnLeashed("sh", [program], { env, stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    child.stderr?.on("data", (chunk) => {
      log += chunk;
    });
    await eventually(() => open("127.0.0.1", port));
    for (const socket of opened.splice(0)) socket.destroy();
    return { child, port, readLog: () => log };
  }

  it("above the limit of open files close the longest idle one, and none hangs", async () => {
    const { child, port, readLog } = await startSmall();
    const warned = "the limit of open files is 300: raise it (ulimit -n, LimitNOFILE) to 1024 or more";
    await eventually(() => expect(readLog()).toContain(warned));
    const working = await open("127.0.5.250", port);
    await askWithoutBody(working);
    const sockets: Socket[] = [];
    for (let n = 0; n < 400; n++) sockets.push(await open(`127.0.5.${n % 200}`, port));
    const served = sockets.slice(-43); // 300 files minus 256 reserved ones and the one in progress
    const left = sockets.slice(0, -43);
    await eventually(() => expect(left.filter(({ closed }) => !closed)).toHaveLength(0));
    for (const socket of served) expect(await answersOn(socket)).toEqual(["200"]);
    // One that was answered is idle again, and leaves for the next.
    expect(await answersOn(await open("127.0.5.251", port))).toEqual(["200"]);
    await eventually(() => expect(served[0]?.closed).toBe(true));
    working.write("abc");
    expect(statuses(String(await once(working, "data")))).toEqual(["400"]);
    child.kill();
  });

  it("at a limit of 1,024 open files are enough to say nothing of it", async () => {
    const { child, readLog } = await startSmall(1024);
    child.kill();
    await once(child, "close");
    expect(readLog()).not.toContain("the limit of open files");
  });

  it("of an address that reads no answer, or sends no body, make room for those of others", async () => {
    const { child, port } = await startSmall();
    let newest = await open("127.0.6.1", port);
    for (let n = 0; n < 60; n++) newest = await open("127.0.6.1", port);
    expect(await answersOn(newest), "in place of an idle one of its own").toEqual(["200"]);
    for (const socket of opened.splice(0)) socket.destroy();
    const resident = await open("127.0.6.2", port);
    /** Fills the server from one address; those that it resets meanwhile do not matter. */
    const hold = async (begin: (socket: Socket) => Promise<unknown>) => {
      const sockets: Socket[] = [];
      for (let n = 0; n < 43; n++) {
        const socket = await open("127.0.6.1", port);
        sockets.push(socket);
        await Promise.race([begin(socket), once(socket, "close")]).catch(() => {});
      }
      return sockets;
    };
    const unread = await hold(async (socket) => {
      socket.write(get(publications.llmsFull.path).repeat(9));
      await once(socket, "readable");
    });
    for (let n = 0; n < 20; n++) expect(await answersOn(await open("127.0.6.3", port))).toEqual(["200"]);
    expect(await answersOn(resident), "idle for longer, but the only one of its network").toEqual(["200"]);
    for (const socket of unread) socket.destroy();
    await hold((socket) => askWithoutBody(socket));
    for (let n = 0; n < 20; n++) expect(await answersOn(await open("127.0.6.4", port))).toEqual(["200"]);
    child.kill();
  });

  it("of new addresses cost as little where all places are taken as before", () => {
    const server = new EventEmitter();
    new Connections(server as Server);
    const takeMs = (from: number) => {
      const beganAtMs = performance.now();
      for (let n = from; n < from + 10_000; n++) {
        const remoteAddress = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
        server.emit("connection", Object.assign(new EventEmitter(), { remoteAddress, destroy() {} }));
      }
      return performance.now() - beganAtMs;
    };
    const free = takeMs(0);
    expect(takeMs(10_000) / free).toBeLessThan(5);
  });

  it("whose answers are not read end where one network has most of that: not the slow reader, nor who has read all", () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const server = new EventEmitter();
    const connections = new Connections(server as Server, {
      withinMs: 45_000,
      bytesPerSecond: 8192,
      unreadBytes: 20_000,
    });
    const ended: string[] = [];
    const read = (remoteAddress: string, writableLength: number) => {
      const socket = Object.assign(new EventEmitter(), {
        remoteAddress,
        bytesWritten: writableLength,
        writableLength,
        resetAndDestroy: () => ended.push(remoteAddress),
      });
      server.emit("connection", socket);
      const incoming: object = { socket, complete: true };
      const outgoing: object = Object.assign(new EventEmitter(), { socket });
      connections.begin(incoming as IncomingMessage, outgoing as ServerResponse);
    };
    read("192.0.2.1", 1000);
    read("10.0.0.0", 0);
    for (let n = 0; n < 5; n++) read(`10.0.0.${n % 2}`, 5000);
    vi.advanceTimersByTime(1000);
    expect(ended).toEqual(["10.0.0.0", "10.0.0.0"]);
  });

  it("end 45 s after their request, and a second later for each 8 KiB that the client has read of its answer", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const server = new EventEmitter();
    const connections = new Connections(server as Server);
    const ended: string[] = [];
    const begin = (remoteAddress: string) => {
      const resetAndDestroy = () => ended.push(remoteAddress);
      const sent = { bytesWritten: 1_000_000, writableLength: 500_000 };
      const socket = Object.assign(new EventEmitter(), { remoteAddress, resetAndDestroy, ...sent });
      server.emit("connection", socket);
      const incoming: object = { socket, complete: true };
      const outgoing: object = Object.assign(new EventEmitter(), { socket });
      connections.begin(incoming as IncomingMessage, outgoing as ServerResponse);
      return socket;
    };
    const slow = begin("192.0.2.1");
    begin("192.0.2.2");
    slow.bytesWritten += 120 * 8192;
    slow.writableLength += 20 * 8192;
    vi.advanceTimersByTime(44_000);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(ended).toEqual(["192.0.2.2"]);
    vi.advanceTimersByTime(99_000);
    expect(ended).not.toContain("192.0.2.1");
    vi.advanceTimersByTime(1000);
    expect(ended).toContain("192.0.2.1");
  });

  it("of as many addresses, none of which sends its body, make room for those of others", async () => {
    const { child, port } = await startSmall();
    for (let n = 0; n < 44; n++) await askWithoutBody(await open(`127.0.7.${n + 1}`, port));
    for (let n = 0; n < 20; n++)
      expect(await answersOn(await open(`127.0.8.${n + 1}`, port))).toEqual(["200"]);
    child.kill();
  });

  it("that leave no file to load a library make the instance unready, because Node does not try again", async () => {
    const own = await Service.start({ SIGN_IN: "local" });
    await own.ready();
    const socket = await open("127.0.0.1", own.port);
    const ask = async (path: string) => {
      socket.write(get(path));
      return String(await once(socket, "data"));
    };
    expect(await ask(health.path)).toMatch(/^HTTP\/1\.1 200 /);
    limitOpenFiles(own.pid, 20); // fewer than it has
    expect(await ask("/oauth/authorize?client_id=x")).toMatch(/^HTTP\/1\.1 503 /);
    const ready = await ask("/ready");
    expect(ready).toMatch(/^HTTP\/1\.1 503 /);
    expect(ready).toContain("a part of the program could not be loaded; restart the service");
    expect(await ask(health.path)).toMatch(/^HTTP\/1\.1 200 /);
    await own.kill();
  });

  it("that leave no file to load the mail library are a line in the log, and a mail that is tried again", async () => {
    const inbox = await startSmtpInbox();
    const mail = { SMTP_URL: `smtp://127.0.0.1:${inbox.port}`, EMAIL_FROM: "office@example.com" };
    const own = await Service.start({ SIGN_IN: "local", APP_URL: "http://localhost:3000", ...mail });
    await own.ready();
    const socket = await open("127.0.0.1", own.port);
    const ask = async (request: string) => {
      socket.write(request);
      return String(await once(socket, "data"));
    };
    expect(await ask(get(health.path))).toMatch(/^HTTP\/1\.1 200 /);
    limitOpenFiles(own.pid, 20); // fewer than it has
    await own.adminJson("account", "add", "ceo@example.com");
    await eventually(() => expect(own.log).toContain("a mail was not sent yet"));
    expect(await ask(get("/ready"))).toContain(
      "a part of the program could not be loaded; restart the service",
    );
    expect(await ask(get(health.path))).toMatch(/^HTTP\/1\.1 200 /);
    await own.kill();
    await inbox.stop();
  });
});
