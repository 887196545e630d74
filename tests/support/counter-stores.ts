import { RedisStore } from "@/lib/rate-limit/redis-store";
import { UpstashStore } from "@/lib/rate-limit/upstash-store";
import { startRedisBridge } from "@/tests/support/redis-bridge";
import type { Environment } from "@/tests/support/service";
import { type Fault, startUpstashBridge } from "@/tests/support/upstash-bridge";

const openUpstash = ({
  UPSTASH_REDIS_REST_URL: url = "",
  UPSTASH_REDIS_REST_TOKEN: token = "",
}: Environment) => new UpstashStore({ url, token });
const openRedis = ({ REDIS_URL = "" }: Environment) => new RedisStore(REDIS_URL);

/** The ways in which a store can be unavailable. */
const faults: Fault[] = ["reset", "frozen", "slow", "500", "html", "nonsense"];

/** The stores in which instances share their counters. */
export const counterStores = [
  { way: "Upstash", startBridge: startUpstashBridge, open: openUpstash, faults: [...faults, "endless"] },
  { way: "Redis", startBridge: startRedisBridge, open: openRedis, faults },
] as const;
