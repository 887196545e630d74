import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { forms } from "@/lib/http/register/forms";
import { operations } from "@/lib/http/register/operations";
import { pages } from "@/lib/http/register/pages";
import { healthBeside, load, scriptOf } from "@/tests/bench/load";
import { judge } from "@/tests/bench/verdict";
import { memoryOf } from "@/tests/support/process-accounts";
import { Service } from "@/tests/support/service";

const { health } = operations;
const environment = { SIGN_IN: "local", TRUSTED_PROXY_HOPS: "1", RATE_LIMIT_HEALTH: "100000000" };
const toFile = { logTo: "file" } as const;
const mebibytes = 1024 * 1024;

/** Measures how strangers' load affects other clients' health checks and our memory. */
export async function measureStrangers(): Promise<void> {
  const service = await Service.start(environment, toFile);
  await service.ask(pages.front.path);
  await measureBesidePages(service);
  await measureAnnounced(service);
  await service.stop();
}

/** Health's p99 alone, and while 16 clients with different addresses request the most expensive page. */
async function measureBesidePages(service: Service): Promise<void> {
  const url = `http://localhost:${service.port}`;
  const script = scriptOf({ path: `${pages.search.path}?q=entitlement`, addresses: 16_000_000 });
  const { ratio, figures } = await healthBeside(service.port, () => load(url, { seconds: 11, script }));
  judge("health with 16 clients on the search", ratio, { most: 3 }, "×", figures);
}

/** A thousand connections that each announce a form body of 10 MiB and start to send it. */
async function measureAnnounced(service: Service): Promise<void> {
  const before = memoryOf(service.pid).now;
  const head = `POST ${forms.sendCode.path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${10 * mebibytes}\r\n\r\n`;
  const some = Buffer.alloc(64 * 1024, "x");
  const sockets: Socket[] = [];
  let most = 0;
  for (let n = 0; n < 1000; n++) {
    const localAddress = `127.0.1.${1 + (n % 200)}`;
    const socket = connect({ port: service.port, host: "127.0.0.1", localAddress });
    socket.on("error", () => {});
    socket.write(head);
    socket.write(some);
    sockets.push(socket);
    if (n % 50 === 0) {
      await sleep(10);
      most = Math.max(most, memoryOf(service.pid).now);
    }
  }
  await sleep(500);
  most = Math.max(most, memoryOf(service.pid).now);
  for (const socket of sockets) socket.destroy();
  judge("memory for 1,000 connections that announce 10 MiB", most - before, { most: 100 }, "MB");
}

/** Memory after a million health checks, each from another address. */
export async function measureMemory(): Promise<void> {
  const service = await Service.start({ TRUSTED_PROXY_HOPS: "1" }, toFile);
  await service.ask(pages.front.path);
  const script = scriptOf({ path: health.path, addresses: 16_000_000 });
  let sent = 0;
  while (sent < 1_000_000) {
    const { requests, failed } = await load(`http://localhost:${service.port}`, { script, from: sent });
    if (failed > 0) throw new Error(`${failed} of the addresses were refused`);
    sent += requests;
  }
  judge("memory after a million addresses", memoryOf(service.pid).now, { most: 220 }, "MB");
  await service.stop();
}
