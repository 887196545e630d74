import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { withTimeout } from "@/lib/runtime/timeout";
import { brokenOff, type Shape, shapes } from "@/tests/hostile/shapes";
import { memoryOf } from "@/tests/support/process-accounts";
import { type Environment, Service } from "@/tests/support/service";

/** The maximum cost of one shape, however often it is sent. */
export const costBounds = { megabytes: 30, healthMs: 100 };

const answerWithinMs = 30_000; // 30 seconds

/** Fewer than any limit of a client allows where the shapes do not expect its refusal. */
const sendsPerConnection = 500;
const finalHeads = /HTTP\/1\.1 (?!100)(\d{3}) .*?\r\n\r\n/gs;

/** The built service under attack: quotas out of the way, and no bound on the connections of one address. */
export async function startTarget(environment: Environment): Promise<Service> {
  const program = ["--import=./tests/hostile/collect-garbage.mjs", "dist/server/main.js"];
  const quotas = { RATE_LIMIT_HEALTH: "100000000", RATE_LIMIT_MCP: "100000000" };
  // The Origin of the forms.
  const settings = { ...quotas, TRUSTED_PROXY_HOPS: "1", APP_URL: "http://localhost:3000" };
  const service = await Service.start({ LOG_LEVEL: "warn", ...settings, ...environment }, { program });
  await service.ask(`${pages.search.path}?q=token`);
  // One-time allocations precede the memory comparison.
  for (const shape of shapes) await repeat(service, shape, 1);
  return service;
}

/**
 * Sends a shape many times in sequence, on one connection while it stays open and within limits. Returns the cost.
 *
 * @param heldBefore - by the service before all shapes, in MB
 */
export async function attack(service: Service, shape: Shape, times: number, heldBefore: number) {
  const before = memoryOf(service.pid).now;
  await repeat(service, shape, times);
  const healthMs = await fastestHealth(service);
  let megabytes = memoryOf(service.pid).now - before;
  // The difference may be garbage, and room that the engine keeps for more: up to 80 MB for 10,000 connections.
  if (megabytes > costBounds.megabytes) megabytes = (await heldMemory(service)) - heldBefore;
  return { megabytes, healthMs };
}

async function repeat({ port }: Service, shape: Shape, times: number): Promise<void> {
  let connection: Connection | undefined;
  for (let n = 0; n < times; n++) {
    if (n % sendsPerConnection === 0) connection?.close();
    if (!connection?.isOpen) connection = await Connection.open(port);
    const statuses = await withTimeout(answerWithinMs, connection.send(shape));
    const isExpected =
      statuses.every((status) => shape.statuses.includes(status)) && statuses.length <= (shape.answers ?? 1);
    if (!isExpected) throw new Error(`${shape.name} was answered with ${statuses.join(", ")}`);
  }
  connection?.close();
}

let connections = 0;

/** A connection from another address than the one before. It sends shapes, and detects complete responses and the last. */
class Connection {
  isOpen = true;
  private received = "";
  private readonly closed: Promise<void>;
  private onData = () => {};

  private constructor(private readonly socket: Socket) {
    socket.setEncoding("latin1").on("data", (text) => {
      this.received += text;
      this.onData();
    });
    // A client that is still writing gets an error at the end of the connection.
    socket.on("error", () => {});
    this.closed = new Promise((resolve) =>
      socket.once("close", () => {
        this.isOpen = false;
        resolve();
      }),
    );
  }

  static async open(port: number): Promise<Connection> {
    const n = connections++ % 2 ** 23;
    const localAddress = `127.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
    const socket = connect({ port, host: "127.0.0.1", localAddress }).setNoDelay();
    await once(socket, "connect");
    return new Connection(socket);
  }

  async send({ bytes, answers = 1, halfCloses }: Shape): Promise<number[]> {
    this.received = "";
    const arrived = new Promise<void>((resolve) => {
      this.onData = () => {
        if (this.heads().length >= answers) resolve();
      };
    });
    const written = new Promise((resolve) => this.socket.write(bytes, "latin1", resolve));
    if (halfCloses) this.socket.end();
    if (answers === 0) {
      await written;
      this.close();
      await this.closed;
      return [];
    }
    await Promise.race([arrived, this.closed]);
    if (halfCloses) await this.closed;
    if (this.heads().some((head) => /\r\nconnection: close\r\n/i.test(head))) await this.closed;
    const statuses = this.heads().map((head) => Number(head.slice(9, 12)));
    return statuses.length > 0 ? statuses : [brokenOff];
  }

  close(): void {
    this.isOpen = false;
    this.socket.destroy();
  }

  private heads(): string[] {
    return this.received.match(finalHeads) ?? [];
  }
}

/** What the objects of the process hold after garbage collection, in MB. */
export async function heldMemory(service: Service): Promise<number> {
  const file = join(service.dataDir, "held");
  writeFileSync(file, "");
  service.signal("SIGUSR2");
  let bytes = "";
  while (bytes === "") {
    await sleep(10);
    bytes = readFileSync(file, "utf8");
  }
  return Math.round(Number(bytes) / 1024 / 1024);
}

/** The duration of a health check: the fastest of a few, as a busy machine may delay any of them. */
async function fastestHealth(service: Service): Promise<number> {
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && fastestMs > costBounds.healthMs; attempt++) {
    await sleep(attempt * 100);
    const startedAtMs = performance.now();
    const { status } = await service.ask(operations.health.path);
    if (status !== 200) throw new Error(`the next health check is ${status}`);
    fastestMs = Math.min(fastestMs, performance.now() - startedAtMs);
  }
  return fastestMs;
}
