import { parseSettings } from "@/lib/config/settings";
import type { CounterStore } from "@/lib/rate-limit/counter-store";
import { RedisStore } from "@/lib/rate-limit/redis-store";
import { UpstashStore } from "@/lib/rate-limit/upstash-store";
import { startRedisBridge } from "@/tests/support/redis-bridge";
import type { Environment } from "@/tests/support/service";
import { type Fault, startUpstashBridge } from "@/tests/support/upstash-bridge";

/** The store that these settings name, over a connection of its own. */
export function openStore(environment: Environment): CounterStore {
  const { upstash, redis } = parseSettings(environment);
  if (upstash) return new UpstashStore(upstash);
  if (redis) return new RedisStore(redis);
  throw new Error("no store is set");
}

/** The ways in which a store can be unavailable. */
const faults: Fault[] = ["reset", "frozen", "slow", "500", "html", "nonsense"];

/** The stores in which instances share their counters. */
export const counterStores = [
  { way: "Upstash", startBridge: startUpstashBridge, faults: [...faults, "endless"] },
  { way: "Redis", startBridge: startRedisBridge, faults },
] as const;
