import { connect, createServer, type Socket } from "node:net";
import { reservePort } from "@/tests/support/port";
import type { Environment } from "@/tests/support/service";
import type { Fault } from "@/tests/support/upstash-bridge";

/** Refusals of a Redis that does not count at the moment. */
export const refusals = ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN"] as const;
type RedisFault = Fault | (typeof refusals)[number];

const commandStart = /\*\d+\r\n\$\d+\r\nEVAL\r\n/g;

/** A loopback server in front of a real redis-server, with faults that a test can set. */
export async function startRedisBridge(redisPort: number) {
  const open = new Set<Socket>();
  const bridge = {
    fault: "none" as RedisFault,
    /** Without those of the status, which looks after its parts every ten seconds. */
    calls: 0,
    connections: 0,
    environment: {} as Environment,
    stop: async () => {},
  };

  // Like Redis, it sends each answer at once: Nagle's algorithm would hold every second one back for 40 ms.
  const server = createServer({ noDelay: true }, (near) => {
    bridge.connections++;
    const far = connect({ port: redisPort, host: "127.0.0.1", noDelay: true });
    for (const socket of [near, far]) open.add(socket.on("error", () => {}));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    const delayed = { late: 100, slow: 600 } as Record<string, number>;
    near.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      if (!text.includes("{probe}")) bridge.calls++;
      const commands = text.match(commandStart)?.length ?? 0;
      if (bridge.fault === "none") far.write(chunk);
      else if (delayed[bridge.fault]) setTimeout(() => far.write(chunk), delayed[bridge.fault]);
      else if (isRefusal(bridge.fault)) near.write(`-${bridge.fault} not now\r\n`.repeat(commands));
      else if (bridge.fault === "reset") near.destroy();
      else if (bridge.fault === "500") near.write("-ERR inside\r\n".repeat(commands));
      else if (bridge.fault === "html") near.write("HTTP/1.1 503 Service Unavailable\r\n\r\n<h1>No</h1>");
      else if (bridge.fault === "nonsense") near.write("*2\r\n$4\r\nmany\r\n$4\r\nsome\r\n".repeat(commands));
    });
    far.on("data", (chunk) => near.write(chunk));
  });

  const port = await reservePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  bridge.environment = { REDIS_URL: `redis://127.0.0.1:${port}/0`, APP_SECRET: "s".repeat(32) };
  bridge.stop = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return bridge;
}

function isRefusal(fault: RedisFault): boolean {
  return refusals.some((refusal) => refusal === fault);
}
