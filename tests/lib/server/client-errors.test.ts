import { once } from "node:events";
import { createServer, METHODS } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { discardBounds } from "@/lib/config/limits";
import { operations } from "@/lib/http/register/operations";
import { publicSite } from "@/lib/http/router";
import { createBoundedServer } from "@/lib/server/bounded-server";
import { answerClientError } from "@/lib/server/client-errors";
import { Connections } from "@/lib/server/connections";
import { borrowService } from "@/tests/support/block";
import { addresses } from "@/tests/support/contract";
import { eventually } from "@/tests/support/databases";
import { listen } from "@/tests/support/port";

const { service } = await borrowService();

const { health, unsubscribe } = operations;
const close = "Host: x\r\nConnection: close\r\n";
const statusOf = (received: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(received)?.[1]);
const statusLines = (received: string) => received.match(/HTTP\/1\.1 \d{3}/g) ?? [];
const allowOf = (received: string) => /\r\nallow: ([^\r]*)\r\n/.exec(received)?.[1];
const bodyOf = (received: string) => received.slice(received.indexOf("\r\n\r\n") + 4);

const madeUp = ["BREW", "GETT", "G", "get", "Post", "OPTIONS2", "X-Y", "~!#$%&'*+.^_`|", "A".repeat(200)];

/** Every known address, an unknown one, and a page. */
const targets: [path: string, methods: string[] | undefined][] = [
  ...addresses.map(({ path, methods }): [string, string[]] => [path, methods]),
  ["/api/nothing", undefined],
  ["/docs/api/errors", ["GET", "HEAD"]],
];

/** Sends one byte per character. */
const send = (bytes: string) => service.send(Buffer.from(bytes, "latin1"));

describe.each(["1.1", "1.0", "0.9", "2.0"])("HTTP/%s", (version) => {
  const few = ["DELETE", "HEAD", "BREW"];

  it.each(version === "1.1" ? [...METHODS, ...madeUp] : few)(
    "%s is 405 with Allow at a known address and 404 at an unknown one",
    async (method) => {
      const spellings = version === "1.1" && few.includes(method) ? ["", "?t=\xe9", "?t=\0"] : [""];
      for (const [path, methods] of targets) {
        if (methods?.includes(method)) continue;
        for (const spelling of spellings) {
          const received = await send(`${method} ${path}${spelling} HTTP/${version}\r\n${close}\r\n`);
          expect(statusOf(received), `${path}${spelling}`).toBe(methods ? 405 : 404);
          expect(allowOf(received)).toBe(methods?.join(", "));
          expect(bodyOf(received) === "").toBe(method === "HEAD");
        }
      }
    },
  );
});

describe("a target", () => {
  const get = (target: string, method = "GET") => send(`${method} ${target} HTTP/1.1\r\n${close}\r\n`);
  const anyByte = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const blanks = [..."\t\n\v\f\r "];

  const isControl = (byte: string) => byte < " " || byte === "\x7f";

  it.each(anyByte.filter((byte) => !blanks.includes(byte)))(
    "with the byte %j is 404 at an unknown address, and 400 at a known one if it is a control character of its query",
    async (byte) => {
      const isEnd = byte === "?";
      expect(statusOf(await get(`${health.path}?t=${byte}`))).toBe(isControl(byte) ? 400 : 200);
      expect(statusOf(await get(`${health.path}${byte}`))).toBe(isEnd ? 200 : 404);
      expect(statusOf(await get(`/api/${byte}health`))).toBe(404);
      expect(statusOf(await get(`/${byte}`))).toBe(isEnd ? 200 : 404);
    },
  );

  it("that is invalid at a known address is 400, and the connection is closed", async () => {
    const received = await send(`GET ${health.path}?t=\0 HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).toContain('"message":"The request target has characters that do not belong in one."');
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("with raw bytes in its query is answered as if they were percent-encoded, as the last of its connection", async () => {
    const email = "raw-bytes@example.com";
    await service.adminJson("account", "add", email, "--plan", "hobby");
    const head = `POST ${await service.unsubscribePath(email)}&utm=\xc3\xa9 HTTP/1.1\r\nHost: x\r\nContent-Length: 26\r\n\r\n`;
    const before = `GET ${health.path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const socket = connect(service.port, "127.0.0.1").setEncoding("latin1");
    const received = text(socket);
    socket.write(before + head, "latin1");
    await setTimeout(50);
    socket.write("List-Unsubscribe=One-Click");
    expect(statusLines(await received)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
    expect(await received).toMatch(/\r\nconnection: close\r\n[^{}]*$/i);
    const odd = `GET ${health.path}?t=\xe9 HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(statusLines(await send(odd.repeat(1000)))).toEqual(["HTTP/1.1 200"]);
    expect(statusOf(await get(`${health.path}?t=${"\xe9".repeat(6000)}`))).toBe(431);
    for (const ofNoPath of ["x", "*"]) expect(statusOf(await get(`${ofNoPath}?t=\xe9`))).toBe(400);
  });

  it.each(blanks)("with the blank %j is 400", async (blank) => {
    expect(statusOf(await get(`${health.path}?t=${blank}x`))).toBe(400);
  });

  it("in UTF-8 is answered after the requests before it, and later requests are not read", async () => {
    const post = `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc\r\n`;
    const first = `GET ${health.path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const odd = "GET /api/\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n";
    const received = await send(`${first}${post}${odd}${first}${odd}`);
    expect(statusLines(received)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 404"]);
    expect(received).toMatch(/\}$/);
  });

  it("`*` is accepted for OPTIONS only, and a target without a path for no method", async () => {
    const received = await get("*", "OPTIONS");
    expect(statusOf(received)).toBe(204);
    expect(allowOf(received)).toBe("GET, HEAD, POST, OPTIONS");
    expect(bodyOf(received)).toBe("");
    expect(statusOf(await get("*"))).toBe(400);
  });

  it("in absolute form is served as its path, whatever its host", async () => {
    const received = await get("http://evil.example/api/x");
    expect(statusOf(received)).toBe(404);
    expect(received).toContain(`"docs":"${service.url}/docs/api/errors#not_found"`);
    expect(received).not.toContain("evil");
  });
});

describe("the limits of the headers", () => {
  const start = `GET ${health.path} HTTP/1.1\r\n${close}`;
  const withLines = (lines: number) => `${start}${"X: y\r\n".repeat(lines - 2)}\r\n`;
  const withBytes = (bytes: number, lines: number) => {
    const head = start + "X: y\r\n".repeat(lines);
    return `${head}Z: ${"z".repeat(bytes - head.length - "Z: \r\n\r\n".length)}\r\n\r\n`;
  };
  const tooLarge =
    /^HTTP\/1\.1 431 [\s\S]*"message":"The headers are over 16 KiB or 100 lines\.","hint":"[^"]*delete the cookies/;

  it("are 100 lines, also when Node would drop lines after the 2,000th", async () => {
    expect(statusOf(await send(withLines(100)))).toBe(200);
    for (const lines of [101, 1999, 2500]) expect(await send(withLines(lines))).toMatch(tooLarge);
    const version = withLines(2500).replace(/\r\n$/, "API-Version: 9\r\n\r\n");
    expect(await send(version)).toMatch(tooLarge);
  });

  it.each([0, 50, 97])("are exactly 16 KiB, with %i more lines", async (lines) => {
    expect(statusOf(await send(withBytes(16_384, lines)))).toBe(200);
    expect(await send(withBytes(16_385, lines))).toMatch(tooLarge);
    expect(await send(withBytes(21_384, lines))).toMatch(tooLarge);
  });

  it("answer HEAD without a body", async () => {
    for (const bytes of [16_385, 21_384]) {
      const received = await send(withBytes(bytes, 1).replace("GET", "HEAD"));
      expect(statusOf(received)).toBe(431);
      expect(bodyOf(received)).toBe("");
    }
  });
});

describe("a Host (RFC 9112 §3.2)", () => {
  const get = (host: string) =>
    send(`GET ${health.path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

  it.each(["", "office.example.com:443", "x:", "[::1]:3000", "%41.example", "a,b;c=d"])(
    "may be %j",
    async (host) => {
      expect(statusOf(await get(host))).toBe(200);
    },
  );

  it.each(["a b", "a/b", "a#b", "user@a", "a:b", "a:1:2", "[::1", "%4", "\xe9", "<a>"])(
    "that is malformed is 400: %j",
    async (host) => {
      const received = await get(host);
      expect(statusOf(received)).toBe(400);
      expect(received).toContain('"message":"The Host header is not a host with an optional port."');
    },
  );
});

describe("a request that Node's parser rejects", () => {
  it.each([
    ["bytes that are no request", "\x16\x03\x01\x02\x00\r\n\r\n"],
    ["a broken request line", "GET /api/health\r\n\r\n"],
    ["an unknown version", "BREW /api/health HTTP/1.2\r\n\r\n"],
    ["a broken header", "GET /api/health HTTP/1.1\r\nHost: x\r\nNoColon\r\n\r\n"],
    ["no Host", "GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["two Hosts", "GET /api/health HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n"],
    ["a target that is no path", "GET api/health HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("%s is 400 in our shape", async (_, bytes) => {
    const received = await send(bytes);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).toContain("\r\napi-version: 1\r\n");
    expect(received).toContain('{"error":{"code":"invalid_request"');
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
    const toHead = await send(bytes.replace("GET", "HEAD"));
    expect(bodyOf(toHead) === "").toBe(bytes.startsWith("GET"));
  });

  it("is answered after those before it, and later requests are not read", async () => {
    const good = `GET ${health.path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    for (const [bad, status] of [
      ["BREW /api/health HTTP/1.1\r\nHost: x\r\n\r\n", 405],
      ["CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405],
      ["\x00\x01garbage\r\n\r\n", 400],
    ] as const) {
      const received = await send(good + good + bad + good);
      expect(statusLines(received)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", `HTTP/1.1 ${status}`]);
    }
  });

  it("gets no response inside one that has begun; the connection is reset instead", async () => {
    const server = createServer((_, response) =>
      response.writeHead(200, { "content-length": 10 }).write("half"),
    );
    const connections = new Connections(server);
    server.on("request", (incoming, outgoing) => connections.begin(incoming, outgoing));
    server.on("clientError", (error, socket) =>
      answerClientError(error, socket as Socket, connections.latestAnswer(socket as Socket), () => {}),
    );
    const socket = connect(await listen(server), "127.0.0.1").setEncoding("latin1");
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    await eventually(() => expect(received).toContain("half"));
    socket.write("no chunk\r\n");
    await once(socket, "close");
    expect(statusLines(received)).toEqual(["HTTP/1.1 200"]);
    expect(received).toMatch(/half$/);
  });

  it("ends no process when its client resets the connection before its turn", async () => {
    const server = createBoundedServer(publicSite, () => new Promise(() => {}));
    const stopped = once(server, "connect");
    const socket = connect(await listen(server), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\nCONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n");
    const [{ socket: atServer }] = await stopped;
    socket.resetAndDestroy();
    await new Promise((closed) => atServer.once("close", closed));
  });

  it("is 405 also when its method arrives byte by byte", async () => {
    const socket = connect(service.port, "127.0.0.1").setNoDelay().setEncoding("latin1");
    await once(socket, "connect");
    const answer = text(socket);
    for (const byte of `BREW ${health.path} HTTP/1.1\r\n${close}\r\n`) {
      if (socket.destroyed) break;
      socket.write(byte);
      await setImmediate();
    }
    expect(statusOf(await answer)).toBe(405);
  });

  it.each([
    [health.path, 405],
    ["/mcp", 403],
  ])("is answered once if it was refused before its body broke: %s", async (path, status) => {
    const post = `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n`;
    const received = await send(post);
    expect(statusLines(received)).toEqual([`HTTP/1.1 ${status}`]);
    expect(received).toMatch(/\}$/);
  });

  it("is not there because a client closed its side after its request: it gets its answer", async () => {
    let answer = () => {};
    const server = createBoundedServer(
      publicSite,
      (_call, _incoming, outgoing) =>
        new Promise((resolve) => {
          answer = () => resolve(void outgoing.end("late"));
        }),
    );
    const socket = connect(await listen(server), "127.0.0.1");
    const received = text(socket);
    const ended = once(server, "connection").then(([atServer]) => once(atServer, "end"));
    socket.end("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await ended;
    answer();
    expect(await received).toMatch(/late$/);
  });

  it("closes the connection, whatever the client still sends", async () => {
    const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true });
    const sending = setInterval(() => socket.write("x"), 100);
    const broken = once(socket.resume(), "error").catch((failure) => failure);
    socket.write("\x00\x01garbage\r\n\r\n");
    const startedAtMs = performance.now();
    await once(socket, "end");
    await broken;
    clearInterval(sending);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(discardBounds.withinMs - 100);
  });
});

describe("a connection", () => {
  const get = (path: string, headers: string) => send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);

  it("stays usable after a refusal", async () => {
    const trace = `TRACE ${health.path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const received = await send(`${trace}GET ${health.path} HTTP/1.1\r\n${close}\r\n`);
    expect(statusLines(received)).toEqual(["HTTP/1.1 405", "HTTP/1.1 200"]);
  });

  it.each([
    [health.path, 200],
    ["/api/x", 404],
    ["/docs/api/errors", 200],
  ])("ignores an Upgrade and an unknown Expect: %s", async (path, status) => {
    const upgrade = "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    expect(statusLines(await get(path, upgrade))).toEqual([`HTTP/1.1 ${status}`]);
    expect(statusLines(await get(path, "Expect: tea\r\nConnection: close\r\n"))).toEqual([
      `HTTP/1.1 ${status}`,
    ]);
  });

  it("rejects a request smuggled behind two lengths", async () => {
    const head = `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n`;
    const smuggled = `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(statusLines(await send(`${smuggled}GET ${health.path} HTTP/1.1\r\n${close}\r\n`))).toEqual([
      "HTTP/1.1 400",
    ]);
  });
});
