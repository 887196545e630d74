import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "@/lib/http/register/operations";
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
  { name: "mail is refused", strike: ({ inbox }) => disturb(inbox, "busy") },
  {
    name: "the store is cut off (embedded: a reader stays)",
    async strike({ store }) {
      await store.cut();
      await sleep(lastingMs);
      await store.mend();
    },
  },
  { name: "counters are reset", strike: ({ bridge }) => disturb(bridge, "reset") },
  {
    name: "5,000 addresses flood",
    async strike({ service }) {
      const script = scriptOf({ path: operations.health.path, addresses: 5000 });
      await load(`http://127.0.0.1:${service.port}`, { seconds: faultSeconds, script, from: 100_000 });
    },
  },
  { name: "the mail server is silent", strike: ({ inbox }) => disturb(inbox, "silent") },
  { name: "400 clients send half a head", strike: openHalfHeads },
  { name: "counters are slow", strike: ({ bridge }) => disturb(bridge, "slow") },
  {
    name: "the log is not read",
    async strike({ logReader }) {
      logReader.kill("SIGSTOP");
      await sleep(lastingMs);
      logReader.kill("SIGCONT");
    },
  },
];

async function disturb<Fault>(stand: { fault: Fault | "none" } | undefined, fault: Fault): Promise<void> {
  if (!stand) return;
  stand.fault = fault;
  await sleep(lastingMs);
  stand.fault = "none";
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
