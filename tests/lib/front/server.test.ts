import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "@/lib/api/operations";
import { limits } from "@/lib/front/limits";
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
  it("answers pipelined requests in their order, refusals among them", async () => {
    const received = await service.send(
      get(health.path) + get("/api/x") + get("/api//health") + get(health.path, "Connection: close\r\n"),
    );
    expect(statusLines(received)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 404", "HTTP/1.1 200"]);
  });

  it("stays usable after a refusal", async () => {
    const trace = "TRACE /api/health HTTP/1.1\r\nHost: x\r\n\r\n";
    const received = await service.send(trace + get(health.path, "Connection: close\r\n"));
    expect(statusLines(received)).toEqual(["HTTP/1.1 405", "HTTP/1.1 200"]);
  });

  it("gives no second answer to bytes that follow a good request and are none", async () => {
    const received = await service.send(`${get(health.path)}\x00\x01garbage\r\n\r\n`);
    expect(statusLines(received)?.length).toBeLessThanOrEqual(2);
    expect(received).not.toMatch(/\}HTTP\/1\.1 200/);
  });

  it("is closed after a refusal that left a body unread", async () => {
    const head = `POST ${health.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`;
    const received = await service.send(head + "x".repeat(1000));
    expect(received).toMatch(/^HTTP\/1\.1 405 /);
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("refuses CONNECT: we are no proxy", async () => {
    const received = await service.send(
      "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    );
    expect(received).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
    expect(received).toContain('{"error":{"code":"method_not_allowed"');
  });

  it("answers a page asked with a method that no page has in our shape", async () => {
    for (const method of ["TRACE", "DELETE", "PROPFIND"]) {
      const { status, headers } = await service.ask("/docs/api/errors", { method });
      expect(status).toBe(405);
      expect(headers.allow).toBe("GET, HEAD, POST, OPTIONS");
      expect(headers["content-type"]).toBe("application/json");
    }
  });

  it("takes no message smuggled behind two lengths", async () => {
    const smuggled = `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    const received = await service.send(smuggled + get(health.path));
    expect(statusLines(received)).toEqual(["HTTP/1.1 400"]);
  });
});

/** Opens a connection, writes this, and answers what came back until it closed, and after how long. */
function trickle(first: string): Promise<{ received: string; afterMs: number }> {
  return new Promise((resolve) => {
    const startedAtMs = Date.now();
    let received = "";
    const socket = connect(service.port, "127.0.0.1", () => socket.write(first));
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("close", () => resolve({ received, afterMs: Date.now() - startedAtMs }));
  });
}

describe.concurrent("a request that comes too slowly", () => {
  it("is answered with 408 when its headers are not there in time", { timeout: 20_000 }, async () => {
    const { received, afterMs } = await trickle("GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(received).toContain(
      '{"error":{"code":"invalid_request","message":"The request took too long to arrive."',
    );
    expect(afterMs).toBeGreaterThanOrEqual(limits.headersTimeout);
    expect(afterMs).toBeLessThan(limits.headersTimeout + 3000);
  });

  it("is answered with 408 when its body is not there in time", { timeout: 40_000 }, async () => {
    const head = `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc`;
    const { received, afterMs } = await trickle(head);
    expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(afterMs).toBeGreaterThanOrEqual(limits.requestTimeout);
    expect(afterMs).toBeLessThan(limits.requestTimeout + 3000);
    expect((await service.ask(health.path)).status).toBe(200);
  });
});

describe("a client that goes away in the middle of its body", () => {
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
