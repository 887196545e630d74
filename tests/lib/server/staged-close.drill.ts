import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { discardBounds } from "@/lib/config/limits";
import { forms } from "@/lib/http/register/forms";
import { operations } from "@/lib/http/register/operations";
import { borrowService } from "@/tests/support/block";

const { health, unsubscribe } = operations;
const rounds = 5;
const { service } = await borrowService();

/** A POST with this body, sent this many times by a client that reads the response once the body has left. */
type Client = (path: string, headers: Record<string, string>, bytes: number) => Promise<number[]>;

const everyRound = async (ask: () => Promise<number>) => {
  const statuses: number[] = [];
  for (let round = 0; round < rounds; round++) statuses.push(await ask());
  return statuses;
};

/** Sends these bytes without reading anything until they have left, then everything that comes. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(service.port, "127.0.0.1");
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  return text(socket);
}

const statusOf = (received: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(received)?.[1]);
const linesOf = (headers: Record<string, string>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);

const clients: Record<string, Client> = {
  "Node's fetch": (path, headers, bytes) =>
    everyRound(async () => {
      const url = `http://localhost:${service.port}${path}`;
      const response = await fetch(url, { method: "POST", headers, body: "x".repeat(bytes) });
      await response.text();
      return response.status;
    }),
  "a socket": (path, headers, bytes) =>
    everyRound(async () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n${linesOf(headers).join("")}\r\n`;
      return statusOf(await exchange(head + "x".repeat(bytes)));
    }),
};

const stop = `${unsubscribe.path}?token=x`;

describe.each(Object.entries(clients))("a refusal reaches %s", (_, send) => {
  it.each([
    { status: 400, why: "an unsupported version", path: stop, headers: { "API-Version": "9" } },
    { status: 403, why: "a form of another origin", path: forms.sendCode.path, headers: { Origin: "x" } },
    { status: 404, why: "an unknown address", path: "/api/nothing", headers: {} },
    { status: 405, why: "a method that is not accepted", path: health.path, headers: {} },
    { status: 413, why: "a body over its bound", path: stop, headers: {} },
  ])("that still sends its body: $status for $why", async ({ status, path, headers }) => {
    for (const bytes of [300_000, 10_000_000]) {
      expect(await send(path, { "Content-Type": "text/plain", ...headers }, bytes)).toEqual(
        Array(rounds).fill(status),
      );
    }
  });
});

describe("a refusal of what Node's parser gives up on", () => {
  const behind = "x".repeat(300_000);

  it.each([
    ["a target with odd bytes", 400, `GET ${health.path}?t=\0 HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["a method that is none", 405, `BREW ${health.path} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["bytes that are no request", 400, "\0\x01\r\n\r\n"],
    ["a broken header", 400, `POST ${stop} HTTP/1.1\r\nHost: x\r\nNoColon\r\n\r\n`],
    ["a head over its bound", 431, `POST ${stop} HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
    ["a broken body", 400, `POST ${stop} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno\r\n`],
    ["CONNECT", 405, "CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("reaches a client that still sends: %s is %i", async (_, status, bytes) => {
    expect(await everyRound(async () => statusOf(await exchange(bytes + behind)))).toEqual(
      Array(rounds).fill(status),
    );
  });
});

describe("a connection after its last response", () => {
  it("answers no request that follows", async () => {
    const last = `GET ${health.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const received = await exchange(last + last);
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 200"]);
  });

  it("takes no more of a body than its bound, then breaks off", async () => {
    const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true });
    const refused = `POST ${health.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n`;
    let isBroken = false;
    socket.on("error", () => {
      isBroken = true;
    });
    socket.resume().write(refused);
    const piece = Buffer.alloc(64 * 1024);
    let sent = 0;
    while (!isBroken && sent < 100_000_000) {
      await new Promise((resolve) => socket.write(piece, resolve));
      sent += piece.length;
    }
    expect(sent).toBeGreaterThan(discardBounds.bytes);
    // The rest fits into the system's buffers.
    expect(sent).toBeLessThan(3 * discardBounds.bytes);
  });
});
