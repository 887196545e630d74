import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { memoryOf, processorTimeOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";
import type { Experiment, Finding } from "./experiment";

const megabytes = 20;
const times = 8;
const askedEveryMs = 1100; // an unavailable store is retried once a second

/** Speaks the protocols of Upstash and Redis, in its own thread, so that its work does not distort measurements. */
const store = String.raw`
const { createServer } = require("node:net");
const { parentPort } = require("node:worker_threads");
const much = "x".repeat(${megabytes} * 1024 * 1024);
const bulk = Buffer.from("$" + much.length + "\r\n" + much + "\r\n");
const json = '[{"result":"' + much + '"}]';
const page = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: " + json.length + "\r\n\r\n" + json);
const server = createServer((socket) =>
  socket.on("error", () => {}).on("data", (asked) => {
    if (/^POST/.test(asked)) socket.write(page);
    else socket.write(/EVAL|MGET/i.test(asked) ? bulk : "+OK\r\n");
  }),
);
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** A counter store that answers a small request with 20 MB. */
export const hugeAnswer: Experiment = {
  name: "huge-answer",
  async run(see) {
    const worker = new Worker(store, { eval: true });
    const [port] = await once(worker, "message");
    const upstash = { UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${port}`, UPSTASH_REDIS_REST_TOKEN: "token" };
    see(await watch("Upstash", upstash));
    see(await watch("Redis", { REDIS_URL: `redis://127.0.0.1:${port}/0` }));
    await worker.terminate();
  },
};

async function watch(way: string, environment: Record<string, string>): Promise<Finding> {
  const service = await Service.start({ APP_SECRET: "s".repeat(32), ...environment }, { logTo: "file" });
  await service.ask("/api/health");
  await sleep(askedEveryMs);
  const [memoryMb, cpuMs] = [memoryOf(service.pid).now, processorTimeOf(service.pid) / 1000];
  let maxMb = 0;
  for (let n = 0; n < times; n++) {
    await service.ask("/api/health");
    maxMb = Math.max(maxMb, memoryOf(service.pid).now - memoryMb);
    await sleep(askedEveryMs);
  }
  const each = (processorTimeOf(service.pid) / 1000 - cpuMs) / times;
  await service.kill();
  return {
    what: `${megabytes} MB from ${way}`,
    figure: `${Math.round(each)} ms of CPU each (under 150), ${Math.round(maxMb)} MB more (under 400)`,
    holds: each < 150 && maxMb < 400,
  };
}
