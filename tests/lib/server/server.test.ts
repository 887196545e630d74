import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { operations } from "@/lib/http/operations";
import { startService } from "@/tests/support/block";
import { eventually } from "@/tests/support/databases";

const { health, unsubscribe } = operations;
const service = await startService();

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

  it("rejects a request smuggled behind two lengths", async () => {
    const smuggled = `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    const received = await service.send(smuggled + get(health.path));
    expect(statusLines(received)).toEqual(["HTTP/1.1 400"]);
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
