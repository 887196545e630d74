import { once } from "node:events";
import { createServer, IncomingMessage } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import { bodyPieces } from "@/lib/config/limits";
import { JoinedMessage } from "@/lib/server/joined-message";
import { listen } from "@/tests/support/port";

const server = createServer({ IncomingMessage: JoinedMessage });
const port = await listen(server);

/** A request with a body of these chunks, all of which arrived before it is read. */
async function receive(chunks: string[]): Promise<JoinedMessage> {
  const socket = connect(port, "127.0.0.1");
  const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
  const body = `${framed}0\r\n\r\n`;
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
  const [incoming] = (await once(server, "request")) as [JoinedMessage];
  while (!incoming.complete && !incoming.isPaused() && incoming.readableLength < bodyPieces.any) {
    await new Promise(setImmediate);
  }
  return incoming;
}

describe("a request", () => {
  it("has its complete body, whatever its chunks", async () => {
    const chunks = Array.from({ length: 300 }, (_, n) => String(n).repeat(n + 1));
    expect((await buffer(await receive(chunks))).toString()).toBe(chunks.join(""));
  });

  it("joins thousands of unread chunks into a few pieces", async () => {
    const chunks = Array.from({ length: 4000 }, (_, n) => String(n % 10));
    const kept = vi.spyOn(IncomingMessage.prototype, "push");
    const incoming = await receive(chunks);
    expect((await buffer(incoming)).toString()).toBe(chunks.join(""));
    const pieces = kept.mock.calls.length;
    kept.mockRestore();
    expect(incoming.pieces).toBe(4000);
    expect(pieces).toBeLessThan(20);
  });

  it("stops reading a body whose pieces are too small", async () => {
    const incoming = await receive(Array<string>(20_000).fill("x"));
    incoming.resume();
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(incoming.pieces).toBe(Math.floor((bodyPieces.any * 8) / 7) + 1);
    incoming.destroy();
  });
});
