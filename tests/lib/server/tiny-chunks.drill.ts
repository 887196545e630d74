import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { bodyLimits, bodyPieces } from "@/lib/config/limits";
import { mcpServer, operations } from "@/lib/http/operations";
import { hooks, pages } from "@/lib/http/pages";
import { recordRaw } from "@/tests/support/answers";
import { startService } from "@/tests/support/block";
import { memoryOf, processorTimeOf } from "@/tests/support/process-accounts";

const { health, unsubscribe } = operations;
const environment = {
  APP_URL: "https://office.example.com",
  EMAIL_FROM: "office@example.com",
  RESEND_API_KEY: "re_test",
  // Nothing listens there: no mail leaves.
  RESEND_BASE_URL: "http://127.0.0.1:9",
  RESEND_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, "k").toString("base64")}`,
  SIGN_IN: "local",
};
const service = await startService(environment);
await service.ask(pages.signIn.path);

/** A body in chunks of this size. */
function frame(body: string, bytes: number): string {
  const chunks = body.match(new RegExp(`.{1,${bytes}}`, "g")) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`;
}

/** Sends these chunks. Returns the bytes received until the connection closed. */
async function sendChunks(framed: string, { method = "POST", path = "" }): Promise<string> {
  const head = `${method} ${path} HTTP/1.1\r\nHost: office.example.com\r\nConnection: close\r\nContent-Type: application/json\r\n`;
  const socket = connect(service.port, "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", (text) => {
    received += text;
  });
  // The connection of a refused request can be reset while chunks are sent.
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  socket.write(framed);
  await closed;
  recordRaw(head, received);
  return received;
}

const message = (length: number) => {
  const { jsonrpc, id, method } = { jsonrpc: "2.0", id: 1, method: "ping" };
  return JSON.stringify({ jsonrpc, id, method }).padEnd(length);
};
const mcp = { path: mcpServer.paths[0] };

describe("a body in small chunks", () => {
  it("can have 4 KiB in chunks of one byte", async () => {
    expect(await sendChunks(frame(message(bodyPieces.any), 1), mcp)).toContain('"result":{}');
    const stop = { path: `${unsubscribe.path}?token=x` };
    const received = await sendChunks(frame("x".repeat(bodyLimits.unsubscribe), 1), stop);
    expect(received).toContain('"code":"invalid_token"');
  });

  it("can have the maximum size in chunks of a few bytes", async () => {
    const chunk = bodyPieces.bytesForOneMore;
    expect(await sendChunks(frame(message(bodyLimits.mcp), chunk), mcp)).toContain('"result":{}');
  });

  it("is refused with an ApiError when it is longer and its chunks are smaller", async () => {
    const received = await sendChunks(frame(message(bodyLimits.mcp), 1), mcp);
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
    expect(received).toContain(
      '"code":"invalid_request","message":"The body comes in pieces that are too small."',
    );
  });
});

const longest = frame("x".repeat(bodyLimits.webhook), 1);

describe("a dozen connections that send the longest body in chunks of one byte", () => {
  const attack = (target: { method?: string; path: string }) =>
    Promise.all(Array.from({ length: 12 }, () => sendChunks(longest, target)));

  it.each([
    { to: "where it is read", target: { path: hooks.resend.path } },
    { to: "where it is refused unread", target: { path: hooks.clerk.path } },
    { to: "where no body belongs", target: { path: health.path } },
    { to: "while a page is rendered", target: { method: "GET", path: pages.signIn.path } },
  ])("cost little memory and time $to", { timeout: 60_000 }, async ({ target }) => {
    const before = memoryOf(service.pid).peak;
    const timeBefore = processorTimeOf(service.pid);
    await attack(target);
    expect((await service.ask(health.path)).status).toBe(200);
    // Three million separate pieces would take 1.2 GB and 8 s.
    expect(memoryOf(service.pid).peak - before, "MB").toBeLessThan(100);
    expect((processorTimeOf(service.pid) - timeBefore) / 1e6, "s of the processor").toBeLessThan(3);
  });
});
