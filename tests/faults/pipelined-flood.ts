import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { operations } from "@/lib/http/register/operations";
import { publications } from "@/lib/http/register/publications";
import { memoryOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";
import { percentile, timesDuring } from "@/tests/support/timing";
import type { Experiment } from "./experiment";

const clients = 500;
const asksEach = 3500;
const measuredForMs = 8000;
const everyMs = 20;

/** Opens the connections in its own thread, so that its work does not distort measurements. */
const flood = `
const { connect } = require("node:net");
const { parentPort, workerData: { port, bytes, clients } } = require("node:worker_threads");
let closed = 0;
const open = (n) => {
  if (n === clients) return setInterval(() => parentPort.postMessage(closed), 100);
  const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.7." + (1 + (n % 200)) });
  socket.on("error", () => {}).once("close", () => closed++).pause();
  socket.write(bytes, () => setTimeout(open, 4, n + 1));
};
open(0);
`;

/** Clients that pipeline thousands of requests in one write, behind documents that they never read. */
export const pipelinedFlood: Experiment = {
  name: "pipelined-flood",
  async run(see) {
    const service = await Service.start({ RATE_LIMIT_HEALTH: "1000000" }, { logTo: "file" });
    const document = `GET ${publications.llmsFull.path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    await service.ask(publications.llmsFull.path);
    const p99 = async () => {
      const ask = () => service.ask(operations.health.path);
      return percentile(await timesDuring(sleep(measuredForMs), ask, everyMs), 0.99);
    };
    const alone = await p99();
    const before = memoryOf(service.pid).now;
    const bytes = document.repeat(8) + "GET / HTTP/1.1\r\n\r\n".repeat(asksEach);
    const worker = new Worker(flood, { eval: true, workerData: { port: service.port, bytes, clients } });
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, memoryOf(service.pid).now - before);
    }, 50);
    const beside = await p99();
    await once(worker, "message");
    await sleep(500);
    clearInterval(watching);
    await worker.terminate();
    see({
      what: `${clients} connections of ${asksEach} requests each`,
      figure: `${Math.round(most)} MB more (under 50)`,
      holds: most < 50,
    });
    see({
      what: "health next to them, p99",
      figure: `${beside.toFixed(1)} ms, ${alone.toFixed(1)} ms alone (3 times)`,
      holds: beside < 3 * alone,
    });
    await service.kill();
  },
};
