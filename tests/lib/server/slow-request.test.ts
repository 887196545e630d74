import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { connectionLimits } from "@/lib/config/limits";
import { operations } from "@/lib/http/register/operations";
import { createFrontServer } from "@/lib/server/server";
import { recordRaw } from "@/tests/support/answers";
import { createFolder } from "@/tests/support/leash";
import { listen } from "@/tests/support/port";

const { health, unsubscribe } = operations;
const limits = {
  ...connectionLimits,
  headersTimeout: 200,
  requestTimeout: 600,
  connectionsCheckingInterval: 50,
};

process.env.DATA_DIR = createFolder();
const server = createFrontServer({ limits });
const port = await listen(server);
afterAll(async () => {
  // The handler of an aborted request has ended when a later request is answered.
  await trickle(`GET ${health.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  await new Promise((resolve) => server.close(resolve));
});

/** Opens a connection and writes this. Returns the bytes received until it closed, and the time. */
async function trickle(first: string): Promise<{ received: string; afterMs: number }> {
  const startedAtMs = performance.now();
  const socket = connect(port, "127.0.0.1", () => socket.write(first));
  const received = await text(socket);
  recordRaw(first, received);
  return { received, afterMs: performance.now() - startedAtMs };
}

describe("a slow request", () => {
  it("has ten seconds for its headers and thirty in all", async () => {
    const { headersTimeout, requestTimeout } = createFrontServer();
    expect([headersTimeout, requestTimeout]).toEqual([10_000, 30_000]);
  });

  it("is a 408 when its headers do not arrive in time", async () => {
    const { received, afterMs } = await trickle(`GET ${health.path} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(received).toContain(
      '{"error":{"code":"invalid_request","message":"The request took too long to arrive."',
    );
    expect(afterMs).toBeGreaterThanOrEqual(limits.headersTimeout);
  });

  it.each(["BR", `BREW ${health.path}`])(
    "is a 408 when the request line of an unknown method does not arrive in time: %j",
    async (begun) => {
      const good = `GET ${health.path} HTTP/1.1\r\nHost: x\r\n\r\n`;
      for (const [before, statuses] of [
        ["", ["408"]],
        [good, ["200", "408"]],
      ] as const) {
        const { received } = await trickle(before + begun);
        expect(received.match(/(?<=HTTP\/1\.1 )\d{3}/g)).toEqual(statuses);
      }
    },
  );

  it("is a 408 when its body does not arrive in time", async () => {
    const head = `POST ${unsubscribe.path}?token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc`;
    const { received, afterMs } = await trickle(head);
    expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(afterMs).toBeGreaterThanOrEqual(limits.requestTimeout);
  });
});
