import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { serve } from "@/tests/support/loopback";
import type { Environment } from "@/tests/support/service";

/** How the bridge handles requests. */
export type Fault = "none" | "reset" | "frozen" | "late" | "slow" | "500" | "html" | "nonsense" | "endless";

const token = "bridge-token";

/**
 * A loopback server that translates Upstash's REST protocol to a real redis-server: commands are JSON arrays, responses
 * `{"result": …}`, in the batches (`/pipeline`) that we send. A test can set faults.
 */
export async function startUpstashBridge(redisPort: number) {
  const redis = new Redis({ port: redisPort, host: "127.0.0.1" });
  const bridge = {
    fault: "none" as Fault,
    /** Without those of the status, which looks after its parts every ten seconds. */
    calls: 0,
    environment: {} as Environment,
    stop: async () => {},
  };

  const { url, stop } = await serve(async (incoming, outgoing) => {
    let text = "";
    for await (const chunk of incoming) text += chunk;
    if (!text.includes("{probe}")) bridge.calls++;
    if (bridge.fault === "reset") return incoming.socket.destroy();
    if (bridge.fault === "frozen") return;
    if (bridge.fault === "late") await sleep(100);
    if (bridge.fault === "slow") await sleep(600);
    if (bridge.fault === "500") return outgoing.writeHead(500).end('{"error":"ERR inside"}');
    if (bridge.fault === "html") return outgoing.writeHead(503).end("<h1>Service Unavailable</h1>");
    if (bridge.fault === "endless") return Readable.from(answerForEver()).pipe(outgoing);
    if (bridge.fault === "nonsense") return outgoing.end('[{"result":["many","some"]}]');
    if (incoming.headers.authorization !== `Bearer ${token}`)
      return outgoing.writeHead(401).end('{"error":"no"}');
    const commands = JSON.parse(text) as unknown[][];
    outgoing.end(JSON.stringify(await Promise.all(commands.map(run))));
  });

  async function run(command: unknown[]) {
    const [name = "", ...args] = command.map(String);
    try {
      return { result: await redis.call(name, args) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }

  bridge.environment = {
    UPSTASH_REDIS_REST_URL: url,
    UPSTASH_REDIS_REST_TOKEN: token,
    APP_SECRET: "s".repeat(32),
  };
  bridge.stop = async () => {
    await stop();
    redis.disconnect();
  };
  return bridge;
}

function* answerForEver() {
  yield '[{"result":"';
  for (;;) yield "x".repeat(64 * 1024);
}
