import { inSeconds } from "@/lib/config/durations";
import {
  answersWithinMs,
  littleOfNetwork,
  type QuotaName,
  quotas,
  type RateLimit,
} from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/per-process";
import type { Circle, Circles } from "@/lib/rate-limit/client";
import { type CounterStore, withinDeadline } from "@/lib/rate-limit/counter-store";
import { exactRatelimit } from "@/lib/rate-limit/exact-window";
import { LocalCounter, type RateLimitDecision } from "@/lib/rate-limit/local-counter";
import { RedisStore } from "@/lib/rate-limit/redis-store";
import { SharedCounter } from "@/lib/rate-limit/shared-counter";
import { UpstashStore } from "@/lib/rate-limit/upstash-store";
import { metrics } from "@/lib/runtime/metrics";

/** The headers that every counted answer carries, as names and values in turn, and what a refused client is told. */
export type RateLimitResult = {
  headers: readonly string[];
  refused?: { message: string; retryAfterSeconds: number };
};

/**
 * Spends one request of the client's quota; the result is there at once where this process counts. Its headers are those of
 * draft-ietf-httpapi-ratelimit-headers-11, and the older pair. `t` is sent on a refusal alone, and equals `Retry-After`: the
 * last 60 seconds have no reset to announce.
 *
 * @param key - the client's
 */
export function consumeRateLimit(name: QuotaName, key: string): RateLimitResult | Promise<RateLimitResult> {
  const quota = quotaOf(name);
  const decision = quota.counter.consume(key);
  return decision instanceof Promise ? decision.then((decided) => quota.say(decided)) : quota.say(decision);
}

/** A quota, and what is said of it: that is the same for all whose quota is as far used up, and is made once. */
class Quota {
  readonly counter: LocalCounter | SharedCounter;
  private readonly limit: number;
  private readonly ofAny: readonly string[];
  private readonly refusals: RateLimitResult[] = [];

  constructor(private readonly name: QuotaName) {
    const { windowSeconds } = quotas[name];
    this.limit = settings().requestsPerMinute[name];
    this.counter = counter(name, this.limit, windowSeconds);
    const policy = `"${name}";q=${this.limit};w=${windowSeconds}`;
    this.ofAny = ["ratelimit-policy", policy, "ratelimit-limit", String(this.limit)];
  }

  say({ allowed, remaining, retryAfterSeconds }: RateLimitDecision): RateLimitResult {
    if (allowed) return { headers: this.inHeaders(remaining) };
    metrics()?.quotaRefusals.inc({ quota: this.name });
    const { windowSeconds } = quotas[this.name];
    const wait = Math.min(retryAfterSeconds ?? windowSeconds, windowSeconds);
    this.refusals[wait] ??= {
      headers: this.inHeaders(0, `;t=${wait}`),
      refused: { message: rateLimitMessage(this.limit, windowSeconds, wait), retryAfterSeconds: wait },
    };
    return this.refusals[wait];
  }

  private inHeaders(remaining: number, until = ""): string[] {
    const left = String(remaining);
    return [...this.ofAny, "ratelimit", `"${this.name}";r=${left}${until}`, "ratelimit-remaining", left];
  }
}

const inUse = perProcess("quotas", () => new Map<QuotaName, Quota>());

function quotaOf(name: QuotaName): Quota {
  const known = inUse().get(name);
  if (known) return known;
  const made = new Quota(name);
  inUse().set(name, made);
  return made;
}

/** The refusal of a client that has spent its quota. */
export function rateLimitMessage(limit: number, windowSeconds: number, waitSeconds: number): string {
  return `Too many requests: ${limit} are allowed in ${windowSeconds} seconds, so wait ${inSeconds(waitSeconds)}.`;
}

/** Whose share is used up, and the seconds until there is some of it again. */
export type LimitRefusal = { whose: "client" | "network" | "all"; layer: string; waitSeconds: number };

type Share = Omit<LimitRefusal, "waitSeconds"> & { limit: number; key: string };

/**
 * Spends one request of a limit: of the client's share, of its network's, and of all strangers' or all known browsers'. Half
 * of all is for networks that have asked for little, so those that ask for much leave something to newcomers. Where a share
 * is known to be used up nothing is counted, and no key is made.
 *
 * @param name - of its counters; several may have the same limit
 */
export async function consumeLimit(
  name: string,
  { perClient, perNetwork, inAll, windowSeconds }: RateLimit,
  { known, network, client }: Circles,
): Promise<LimitRefusal | undefined> {
  const share = (whose: Share["whose"], suffix: string, limit: number | undefined, key: Circle): Share[] =>
    limit === undefined || typeof key === "symbol" ? [] : [{ whose, layer: name + suffix, limit, key }];
  const own = [
    ...share("client", "", perClient, client),
    ...share("network", "-of-network", perNetwork, network),
  ];
  const half = inAll && inAll / 2;
  const ofAll = share("all", "-in-all", half, known);
  const ofNewcomers = share("all", "-in-all", half, `${known} who ask for little`);
  const decide = async (how: "peek" | "consume"): Promise<LimitRefusal | undefined> => {
    let asked = 0;
    let refused: LimitRefusal | undefined;
    const isRefused = async ({ whose, layer, limit, key }: Share) => {
      const decision = await counter(layer, limit, windowSeconds)[how](key);
      if (whose === "network") asked = limit - decision.remaining;
      const { allowed, retryAfterSeconds: waitSeconds = windowSeconds } = decision;
      refused = allowed ? undefined : { whose, layer, waitSeconds };
      return !allowed;
    };
    for (const one of own) if (await isRefused(one)) return refused;
    for (const one of asked <= littleOfNetwork ? [...ofNewcomers, ...ofAll] : ofAll)
      if (!(await isRefused(one))) return undefined;
    return refused;
  };
  const refused = (await decide("peek")) ?? (await decide("consume"));
  if (refused) metrics()?.quotaRefusals.inc({ quota: refused.layer });
  return refused;
}

/** Gives a request back to the client's limit, because it failed because of us. Its network's counts it still. */
export function refundLimit(
  name: string,
  { perClient, windowSeconds }: RateLimit,
  { client }: Circles,
): void {
  if (perClient && typeof client === "string") counter(name, perClient, windowSeconds).refund(client);
}

const counters = perProcess("counters", () => new Map<string, LocalCounter | SharedCounter>());

/** The counter of that name: shared by all instances where a shared store is configured, else of this process. */
export function counter(name: string, limit: number, windowSeconds: number): LocalCounter | SharedCounter {
  const known = counters().get(name);
  if (known) return known;
  const made = makeCounter(name, limit, windowSeconds * 1000);
  counters().set(name, made);
  return made;
}

function makeCounter(name: string, limit: number, windowMs: number): LocalCounter | SharedCounter {
  const inProcess = new LocalCounter(limit, windowMs);
  const store = counterStore();
  if (!store) return inProcess;
  // While the store is away, health checks go on uncounted, and everything else is counted in this process.
  const fallback = (key: string, nowMs: number): RateLimitDecision =>
    name === "health" ? { allowed: true, remaining: 0 } : inProcess.consume(key, nowMs);
  const { sharedCounters: storeTimeoutMs } = answersWithinMs;
  return new SharedCounter(store, { name, limit, windowMs, storeTimeoutMs, fallback });
}

/**
 * Counts a request of our own in the store that instances share, and returns the store's name; `undefined` if each
 * process counts for itself. Throws why the store does not count, or a `TimeoutError`.
 */
export async function probeCounterStore(timeoutMs: number): Promise<string | undefined> {
  const store = counterStore();
  if (!store) return undefined;
  const probe = exactRatelimit(store, { name: "probe", limit: 1, windowMs: 1000 });
  await withinDeadline(store, timeoutMs, probe.limit("{probe}"));
  return store.name;
}

/** The clock of the store in which all instances count, in Unix milliseconds; of this process without one. */
export async function readCounterClock(timeoutMs: number): Promise<number> {
  const store = counterStore();
  if (!store) return Date.now();
  // At the other end of a cluster's slots than the probe: if REDIS_URL names a cluster as one server, one of the two is refused.
  const time = store.eval('return redis.call("TIME")[1]', ["corner-office:{its clock}"], []);
  return Number(await withinDeadline(store, timeoutMs, time)) * 1000;
}

/** The store in which all instances count, if one is configured. */
export const counterStore = perProcess("counter store", (): CounterStore | undefined => {
  const { upstash, redis } = settings();
  if (upstash) return new UpstashStore(upstash);
  return redis && new RedisStore(redis);
});
