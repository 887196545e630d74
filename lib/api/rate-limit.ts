import { clientKey } from "@/lib/api/client-address";
import type { CounterStore } from "@/lib/api/counter-store";
import { type Decision, ProcessCounter } from "@/lib/api/process-counter";
import { RedisStore } from "@/lib/api/redis-store";
import { SharedCounter } from "@/lib/api/shared-counter";
import { UpstashStore } from "@/lib/api/upstash-store";
import { oncePerProcess } from "@/lib/once-per-process";
import { metrics } from "@/lib/process/metrics";
import { type QuotaName, quotas } from "@/lib/settings/limits";
import { settings } from "@/lib/settings/settings";

const answersWithinMs = 400; // the shared store, a round

/** The headers that every counted answer carries, as names and values in turn, and what the counter decided. */
type Spent = {
  headers: readonly string[];
  refusal?: { message: string; retryAfterSeconds: number | undefined };
};

/**
 * Spends one request of the client's quota. Its headers are those of draft-ietf-httpapi-ratelimit-headers-11, and the
 * older pair. It answers at once where the counter does.
 */
export function spendQuota(name: QuotaName, request: Request): Spent | Promise<Spent> {
  const quota = quotaOf(name);
  const decision = quota.counter.spend(clientKey(request.headers), performance.now());
  return decision instanceof Promise ? decision.then((late) => tell(quota, late)) : tell(quota, decision);
}

function tell(quota: Quota, decision: Decision): Spent {
  const headers = quotaHeaders(quota, decision);
  if (decision.allowed) return { headers };
  const { name, limit, windowSeconds } = quota;
  metrics()?.quotaRefusals.inc({ quota: name });
  const wait = decision.retryAfterSeconds;
  return {
    headers,
    refusal: { message: overQuota(limit, windowSeconds, wait), retryAfterSeconds: wait },
  };
}

type Quota = {
  name: QuotaName;
  limit: number;
  windowSeconds: number;
  counter: ProcessCounter | SharedCounter;
  /** The headers that say the same in every answer. */
  fixed: readonly string[];
};

function quotaOf(name: QuotaName): Quota {
  return oncePerProcess(`quota ${name}`, () => {
    const limit = settings().requestsPerMinute[name];
    const { windowSeconds } = quotas[name];
    const policy = `"${name}";q=${limit};w=${windowSeconds}`;
    const fixed = ["ratelimit-policy", policy, "ratelimit-limit", String(limit)];
    return { name, limit, windowSeconds, counter: counter(name, limit, { windowSeconds }), fixed };
  });
}

/** What a refusal says to a client that has spent its quota. */
export function overQuota(limit: number, windowSeconds: number, waitSeconds: number | undefined): string {
  return `Too many requests: ${limit} are allowed in ${windowSeconds} seconds. Wait ${waitSeconds} seconds.`;
}

/** `t` is sent on a refusal alone, and equals `Retry-After`: the last 60 seconds have no reset to announce. */
function quotaHeaders({ name, fixed }: Quota, decision: Decision): readonly string[] {
  const remaining = String(decision.remaining);
  const wait = decision.allowed ? "" : `;t=${decision.retryAfterSeconds}`;
  return [...fixed, "ratelimit", `"${name}";r=${remaining}${wait}`, "ratelimit-remaining", remaining];
}

/**
 * The counter of that name: shared by all instances where a shared store is configured, else of this process. While
 * the store is away health checks go on uncounted, and everything else is counted in this process.
 */
export function counter(
  name: string,
  limit: number,
  { windowSeconds }: { windowSeconds: number },
): ProcessCounter | SharedCounter {
  return oncePerProcess(`counter ${name}`, () => {
    const windowMs = windowSeconds * 1000;
    const inProcess = new ProcessCounter(limit, windowMs);
    const store = counterStore();
    if (!store) return inProcess;
    const whileAway = (key: string, nowMs: number) =>
      name === "health" ? { allowed: true, remaining: 0 } : inProcess.spend(key, nowMs);
    return new SharedCounter(store, { name, limit, windowMs, answersWithinMs, whileAway });
  });
}

/** The store that all instances share for their counters; none where each process counts for itself. */
export function counterStore(): CounterStore | undefined {
  return oncePerProcess("counter store", () => {
    const { upstash, redisUrl } = settings();
    if (upstash) return new UpstashStore(upstash);
    return redisUrl ? new RedisStore(redisUrl) : undefined;
  });
}
