import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/http/operations";
import { eventually } from "@/tests/support/databases";
import { Service } from "@/tests/support/service";

const { health, unsubscribe } = operations;
let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const statusLines = (received: string) => received.match(/HTTP\/1\.1 \d{3}/g);

describe("a connection", () => {
  it("stays usable after a refusal", async () => {
    const trace = "TRACE /api/health HTTP/1.1\r\nHost: x\r\n\r\n";
    const received = await service.send(trace + get(health.path, "Connection: close\r\n"));
    expect(statusLines(received)).toEqual(["HTTP/1.1 405", "HTTP/1.1 200"]);
  });

  it("is closed after a refusal with an unread body", async () => {
    const head = `POST ${health.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`;
    const received = await service.send(head + "x".repeat(1000));
    expect(received).toMatch(/^HTTP\/1\.1 405 /);
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("ignores an Upgrade, also after Next has rendered a page", async () => {
    await service.ask("/docs/api/errors");
    const upgrade =
      "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    for (const [path, status] of [
      [health.path, 200],
      ["/api/x", 404],
      ["/docs/api/errors", 200],
    ] as const) {
      const received = await service.send(get(path, `Connection: Upgrade, close\r\n${upgrade}`));
      expect(statusLines(received)).toEqual([`HTTP/1.1 ${status}`]);
    }
  });

  it("ignores an unknown Expect", async () => {
    const received = await service.send(get(health.path, "Expect: tea\r\nConnection: close\r\n"));
    expect(statusLines(received)).toEqual(["HTTP/1.1 200"]);
  });

  it("refuses CONNECT: we are not a proxy", async () => {
    const received = await service.send(
      "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    );
    expect(received).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
    expect(received).toContain("\r\nallow: GET, HEAD, POST, OPTIONS\r\n");
    expect(received).toContain('{"error":{"code":"method_not_allowed"');
  });

  it("rejects a request smuggled behind two lengths", async () => {
    const smuggled = `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    const received = await service.send(smuggled + get(health.path));
    expect(statusLines(received)).toEqual(["HTTP/1.1 400"]);
  });
});

describe("arbitrary bytes after /api/", () => {
  const connectFor = (bytes: Buffer) =>
    new Promise<string>((resolve, reject) => {
      let received = "";
      const socket = connect(service.port, "127.0.0.1", () => socket.end(bytes));
      socket.setTimeout(5000, () =>
        reject(new Error(`a hang after ${JSON.stringify(bytes.toString("latin1"))}`)),
      );
      socket.setEncoding("latin1").on("data", (chunk) => {
        received += chunk;
      });
      socket.on("error", () => {}).on("close", () => resolve(received));
    });

  it("get an ApiError or no response, never HTML, a hang or a crash", { timeout: 60_000 }, async () => {
    let seed = 20_261_121;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const bases = [
      "GET /api/health",
      "POST /api/email/unsubscribe?token=x",
      "PUT /api/x",
      "BREW /api/health",
      "POST /api/mcp",
    ];
    for (let n = 0; n < 400; n++) {
      const [start, ...rest] = (bases[n % bases.length] ?? "").split("/api/");
      const tail = Buffer.from(
        `${rest} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`,
        "latin1",
      );
      for (let change = 0; change <= random(4); change++) tail[random(tail.length)] = random(256);
      const received = await connectFor(Buffer.concat([Buffer.from(`${start}/api/`), tail]));
      for (const answer of received.split(/(?=HTTP\/1\.1 \d{3} )/)) {
        expect(answer, tail.toString("latin1")).toMatch(
          /^HTTP\/1\.1 (200|400|403|404|405|408|413|415|429|431) [\s\S]*api-version: 1\r\n/,
        );
        expect(answer).not.toContain("<html");
      }
    }
    expect((await service.ask(health.path)).status).toBe(200);
  });
});

describe("a private peer that sends X-Forwarded-For", () => {
  it("is logged once, because all its clients share one address", async () => {
    for (let n = 0; n < 3; n++)
      await service.ask(health.path, { headers: { "X-Forwarded-For": "198.51.100.1" } });
    await eventually(() => expect(service.log).toContain("but TRUSTED_PROXY_HOPS is 0"));
    expect(service.log.match(/but TRUSTED_PROXY_HOPS is 0/g)).toHaveLength(1);
  });
});

describe("a client that disconnects while it sends a body", () => {
  it("leaves nothing behind", async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(service.port, "127.0.0.1", async () => {
        socket.write(`POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc`);
        await sleep(100);
        socket.destroy();
        resolve();
      });
    });
    await sleep(300);
    expect((await service.ask(health.path)).status).toBe(200);
    expect(service.log).not.toContain('"level":"error"');
  });
});
