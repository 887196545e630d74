import { quotas } from "@/lib/config/limits";
import { eventually } from "@/tests/support/databases";
import { startRedisBridge } from "@/tests/support/redis-bridge";
import { Service } from "@/tests/support/service";
import { type Fault, startUpstashBridge } from "@/tests/support/upstash-bridge";
import type { Experiment } from "./experiment";

const atOnce = 1000;
const { requests } = quotas.health;

/**
 * A thousand concurrent requests from one address, on a shared counter store that is healthy, slow or flapping. They
 * come through a proxy: without one, an address may not open so many connections.
 */
export const counterBurst: Experiment = {
  name: "counter-burst",
  async run(see, world) {
    const redisPort = await world.redisPort();
    let client = 1;
    for (const [way, startBridge] of [
      ["Upstash", startUpstashBridge],
      ["Redis", startRedisBridge],
    ] as const) {
      const bridge = await startBridge(redisPort);
      const service = await Service.start(
        { TRUSTED_PROXY_HOPS: "1", ...bridge.environment },
        { logTo: "file" },
      );
      const ask = (from: string) => service.ask("/api/health", { headers: { "x-forwarded-for": from } });
      await eventually(async () => {
        if ((await ask("10.0.5.9")).headers["ratelimit-remaining"] === "0")
          throw new Error("it does not count");
      });
      for (const fault of ["none", "late"] satisfies Fault[]) {
        bridge.fault = fault;
        const from = `10.0.5.${client++}`;
        const answers = await Promise.all(Array.from({ length: atOnce }, () => ask(from)));
        const admitted = answers.filter(({ status }) => status === 200).length;
        see({
          what: `${way}, ${fault === "none" ? "sound" : "100 ms late"}: ${atOnce} at once`,
          figure: `${admitted} admitted (${requests}, and 2 for a window that turns)`,
          holds: admitted >= requests && admitted <= requests + 2,
        });
      }
      let slowestMs = 0;
      const statuses = new Set<number>();
      for (let n = 0; n < 300; n++) {
        bridge.fault =
          (["none", "reset", "none", "frozen", "500", "none", "nonsense"] as const)[n % 7] ?? "none";
        const startedAtMs = performance.now();
        const { status } = await ask(`10.0.6.${1 + (n % 200)}`);
        slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
        statuses.add(status);
      }
      see({
        what: `${way}, coming and going: 300 health checks`,
        figure: `${[...statuses]} (200), the slowest in ${Math.round(slowestMs)} ms (under 1000)`,
        holds: [...statuses].join() === "200" && slowestMs < 1000,
      });
      bridge.fault = "none";
      await service.kill();
      await bridge.stop();
    }
  },
};
