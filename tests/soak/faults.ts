import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/operations";
import { load, scriptOf } from "@/tests/bench/load";
import type { World } from "./world";

/** How long each fault lasts. */
const faultSeconds = 30;

/** A fault. It has ended when `strike` resolves. */
type Fault = { name: string; strike: (world: World) => Promise<void> };

const lastingMs = faultSeconds * 1000;

/** The faults, one after the other. */
export const faults: Fault[] = [
  {
    name: "the store says nothing (embedded: its lock is held)",
    async strike({ store }) {
      store.hold();
      await sleep(lastingMs);
      store.release();
    },
  },
  {
    name: "the store is only read",
    async strike({ store, service }) {
      await store.refuseWrites(service.pid);
      await sleep(lastingMs);
      await store.acceptWrites(service.pid);
    },
  },
  { name: "mail is refused", strike: (world) => disturbMail(world, "busy") },
  {
    name: "the store is cut off (embedded: a reader stays)",
    async strike({ store }) {
      await store.cut();
      await sleep(lastingMs);
      await store.mend();
    },
  },
  { name: "counters are reset", strike: (world) => disturbCounters(world, "reset") },
  {
    name: "5,000 addresses flood",
    async strike({ service }) {
      const script = scriptOf({ path: operations.health.path, addresses: 5000 });
      await load(`http://127.0.0.1:${service.port}`, { seconds: faultSeconds, script, from: 100_000 });
    },
  },
  { name: "the mail server is silent", strike: (world) => disturbMail(world, "silent") },
  { name: "400 clients send half a head", strike: openHalfHeads },
  { name: "counters are slow", strike: (world) => disturbCounters(world, "slow") },
  {
    name: "the log is not read",
    async strike({ logReader }) {
      logReader.kill("SIGSTOP");
      await sleep(lastingMs);
      logReader.kill("SIGCONT");
    },
  },
];

async function disturbMail({ inbox }: World, fault: typeof inbox.fault): Promise<void> {
  inbox.fault = fault;
  await sleep(lastingMs);
  inbox.fault = "none";
}

async function disturbCounters({ bridge }: World, fault: "reset" | "slow"): Promise<void> {
  if (!bridge) return;
  bridge.fault = fault;
  await sleep(lastingMs);
  bridge.fault = "none";
}

async function openHalfHeads({ service }: World): Promise<void> {
  const sockets: Socket[] = Array.from({ length: 400 }, (_, n) => {
    const to = { host: "127.0.0.1", port: service.port, localAddress: `127.9.${n % 250}.1` };
    const socket = connect(to, () => socket.write("GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow"));
    return socket.on("error", () => {}).resume();
  });
  await sleep(lastingMs);
  for (const socket of sockets) socket.destroy();
}
