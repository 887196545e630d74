import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { operations } from "@/lib/http/register/operations";
import { eventually } from "@/tests/support/databases";
import { createFolder, spawnLeashed } from "@/tests/support/leash";
import { startWithOffice } from "@/tests/support/office-browser";
import { reservePort } from "@/tests/support/port";
import { Service, sendTo } from "@/tests/support/service";

const { path } = operations.health;

it("a stop refuses new connections, finishes the request in progress also after SIGHUP, and exits with 0", async () => {
  const service = await Service.start({ SIGN_IN: "local" });
  const socket = await beginRequest(service);
  const answer = text(socket);
  const stopped = service.stop();
  await eventually(() => expect(service.ask(path)).rejects.toThrow("ECONNREFUSED"));
  service.signal("SIGHUP");
  await sleep(100);
  socket.write("ab");
  const startedAtMs = Date.now();
  expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(await stopped).toBe(0);
  expect(Date.now() - startedAtMs, "the connection it leaves open is closed").toBeLessThan(8000);
});

it("a stop finishes an operator's request in progress, and their next connection is refused", async () => {
  const service = await startWithOffice({ SIGN_IN: "local" });
  const port = Number(service.environment.OFFICE_PORT);
  const head = `POST /enter/options HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: http://localhost:${port}\r\n`;
  const socket = await beginRequest({ port }, head);
  const answer = text(socket);
  const stopped = service.stop();
  await eventually(() => expect(sendTo(port, "/", {})).rejects.toThrow("ECONNREFUSED"));
  socket.write("ab");
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(await stopped).toBe(0);
});

describe.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s under load", (signal) => {
  it("resets no connection: each one's last response says that it closes", async () => {
    const service = await Service.start({ RATE_LIMIT_HEALTH: "1000000" });
    const clients = Array.from({ length: 40 }, () => askUntilClosed(service));
    await eventually(() =>
      expect(Math.min(...clients.map(({ answers }) => answers.length))).toBeGreaterThan(20),
    );
    const exited = service.exit();
    service.signal(signal);
    for (const { answers, failure } of await Promise.all(clients.map(({ done }) => done))) {
      expect(failure).toBeUndefined();
      expect(answers.at(-1)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nconnection: close\r\n/is);
      for (const earlier of answers.slice(0, -1)) expect(earlier).not.toMatch(/\r\nconnection: close\r\n/i);
    }
    expect(await exited).toBe(0);
  });
});

it("a drain answers everything for its duration, while /ready is 503", async () => {
  const service = await Service.start({ DRAIN_SECONDS: "2" });
  await eventually(async () => expect((await service.ask("/ready")).text).toBe("ready\n"));
  const exited = service.exit();
  service.signal("SIGTERM");
  const toldAtMs = Date.now();
  await eventually(async () => {
    const { status, headers, text } = await service.ask("/ready");
    expect(status).toBe(503);
    expect(headers["cache-control"]).toBe("no-store");
    expect(text).toBe("not ready: the service is stopping\n");
  });
  while (Date.now() - toldAtMs < 1500) {
    const { status, headers } = await service.ask(path, { headers: { connection: "keep-alive" } });
    expect(status).toBe(200);
    expect(headers.connection).toBe("close");
    await sleep(50);
  }
  expect(await exited).toBe(0);
  expect(Date.now() - toldAtMs).toBeGreaterThanOrEqual(2000);
  expect(Date.now() - toldAtMs).toBeLessThan(10_000);
});

describe("a second signal", () => {
  it("within two seconds is the first one: npm passes on what a supervisor sends to the whole group", async () => {
    const port = await reservePort();
    const { PATH = "", HOME = "" } = process.env;
    const env = {
      NODE_ENV: "production",
      PATH,
      HOME,
      PORT: `${port}`,
      DATA_DIR: createFolder(),
      DRAIN_SECONDS: "1",
    } as const;
    const npm = spawnLeashed("npm", ["start"], { env, stdio: "ignore" });
    const exited = once(npm, "close");
    const socket = await eventually(() => beginRequest({ port }));
    const answer = text(socket);
    process.kill(-(npm.pid ?? 0), "SIGTERM");
    await eventually(async () => expect((await fetch(`http://localhost:${port}/ready`)).status).toBe(503));
    socket.write("ab");
    expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(await exited).toEqual([0, null]);
  });

  it("two seconds later ends the process at once, whatever is in progress", async () => {
    const service = await Service.start();
    await beginRequest(service);
    const startedAtMs = Date.now();
    const stopped = service.stop();
    const impatient = setInterval(() => service.signal("SIGINT"), 100);
    expect(await stopped).toBe(1);
    clearInterval(impatient);
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(2000);
    expect(Date.now() - startedAtMs).toBeLessThan(8000);
  });
});

it("a request that never ends has ten seconds before the service stops", { timeout: 40_000 }, async () => {
  const service = await Service.start();
  await beginRequest(service);
  const startedAtMs = Date.now();
  expect(await service.stop()).toBe(0);
  expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(9_900);
  expect(Date.now() - startedAtMs).toBeLessThan(25_000);
});

/** Sends a request without its body. Returns its socket when the service waits for the body. */
async function beginRequest(
  { port }: { port: number },
  head = "POST /api/email/unsubscribe?token=x HTTP/1.1\r\nHost: x\r\n",
): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {});
  socket.write(`${head}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
  const [interim] = await once(socket, "data");
  expect(String(interim)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  return socket;
}

/** Sends one request after the other on a connection until it closes. */
function askUntilClosed({ port }: Service) {
  const client = {
    answers: [] as string[],
    failure: undefined as Error | undefined,
    done: Promise.resolve(),
  };
  const socket = connect(port, "127.0.0.1");
  const ask = () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
    if (!/\r\n\r\n\{.*\}$/.test(received)) return;
    client.answers.push(received);
    const isLast = /\r\nconnection: close\r\n/i.test(received);
    received = "";
    if (!isLast) ask();
  });
  ask();
  const done = new Promise<void>((resolve) => {
    socket.once("error", (error) => {
      client.failure = error;
    });
    socket.once("close", () => resolve());
  });
  return Object.assign(client, { done: done.then(() => client) });
}
