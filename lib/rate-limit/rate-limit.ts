import { answersWithinMs, type QuotaName, quotas, type RateLimit } from "@/lib/config/limits";
import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";
import { knownClientKey, ownNetworkKey } from "@/lib/rate-limit/client-address";
import { type CounterStore, withinDeadline } from "@/lib/rate-limit/counter-store";
import { exactRatelimit } from "@/lib/rate-limit/exact-window";
import { LocalCounter } from "@/lib/rate-limit/local-counter";
import { RedisStore } from "@/lib/rate-limit/redis-store";
import type { Sender } from "@/lib/rate-limit/sender";
import { decideWithoutStore, SharedCounter } from "@/lib/rate-limit/shared-counter";
import { UpstashStore } from "@/lib/rate-limit/upstash-store";
import { metrics } from "@/lib/runtime/metrics";
import { RecentCache } from "@/lib/runtime/recent-cache";

/** The headers that every counted answer carries, as names and values in turn, and what a refused client is told. */
type RateLimitResult = {
  headers: readonly string[];
  refused?: { message: string; retryAfterSeconds: number };
};

/**
 * Spends one request of the client's quota. Its headers are those of draft-ietf-httpapi-ratelimit-headers-11, and the
 * older pair. `t` is sent on a refusal alone, and equals `Retry-After`: the last 60 seconds have no reset to announce.
 *
 * @param key - the client's
 */
export async function consumeRateLimit(name: QuotaName, key: string): Promise<RateLimitResult> {
  const limit = settings().requestsPerMinute[name];
  const { windowSeconds } = quotas[name];
  const decision = await counter(name, limit, windowSeconds).consume(key);
  const { allowed, retryAfterSeconds = windowSeconds } = decision;
  const remaining = allowed ? decision.remaining : 0;
  const wait = Math.min(retryAfterSeconds, windowSeconds);
  const headers: string[] = [];
  headers.push("ratelimit-policy", `"${name}";q=${limit};w=${windowSeconds}`);
  headers.push("ratelimit-limit", String(limit));
  headers.push("ratelimit", `"${name}";r=${remaining}${allowed ? "" : `;t=${wait}`}`);
  headers.push("ratelimit-remaining", String(remaining));
  if (allowed) return { headers };
  metrics()?.quotaRefusals.inc({ quota: name });
  const message = rateLimitMessage(limit, windowSeconds, wait);
  return { headers, refused: { message, retryAfterSeconds: wait } };
}

/** The refusal of a client that has spent its quota. */
export function rateLimitMessage(limit: number, windowSeconds: number, waitSeconds: number): string {
  return `Too many requests: ${limit} are allowed in ${windowSeconds} seconds, so wait ${waitSeconds} seconds.`;
}

const maxKnownNetworks = 10_000;
const knownNetworks = () => processSingleton("known networks", () => new RecentCache<true>(maxKnownNetworks));

/** Whether one has signed in before in this browser or, while this process runs, in another of its network. */
export function isKnownSender({ headers, browser }: Sender): boolean {
  const network = ownNetworkKey(headers);
  if (browser && network) knownNetworks().set(network, true);
  return browser !== undefined || (network !== undefined && knownNetworks().get(network) === true);
}

/**
 * Spends one request of a limit: of the client's, of its network's, and of all. Returns the seconds to wait if one of them
 * is spent.
 *
 * @param name - of its counters; several may have the same limit
 */
export async function consumeLimit(
  name: string,
  { perClient, perNetwork, inAll, windowSeconds }: RateLimit,
  sender: Sender,
): Promise<number | undefined> {
  const { headers, browser } = sender;
  const [client, network] = [browser ?? knownClientKey(headers), ownNetworkKey(headers)];
  const layers: [name: string, limit: number | undefined, key: string | undefined][] = [
    [name, perClient, client],
    [`${name}-of-network`, perNetwork, browser ? network && `known ${network}` : network],
    [`${name}-in-all`, inAll, isKnownSender(sender) ? undefined : "all"],
  ];
  for (const [layer, limit, key] of layers) {
    if (limit === undefined || key === undefined) continue;
    const { allowed, retryAfterSeconds } = await counter(layer, limit, windowSeconds).consume(key);
    if (allowed) continue;
    metrics()?.quotaRefusals.inc({ quota: layer });
    return retryAfterSeconds ?? windowSeconds;
  }
  return undefined;
}

/** Gives a request back to the client's limit, because it failed because of us. Its network's counts it still. */
export function refundLimit(
  name: string,
  { perClient, windowSeconds }: RateLimit,
  { headers, browser }: Sender,
): void {
  const client = browser ?? knownClientKey(headers);
  if (perClient && client) counter(name, perClient, windowSeconds).refund(client);
}

/** The counter of that name: shared by all instances where a shared store is configured, else of this process. */
export function counter(name: string, limit: number, windowSeconds: number): LocalCounter | SharedCounter {
  return processSingleton(`counter ${name}`, () => {
    const windowMs = windowSeconds * 1000;
    const inProcess = new LocalCounter(limit, windowMs);
    const store = counterStore();
    if (!store) return inProcess;
    const fallback = decideWithoutStore(name, inProcess);
    const { sharedCounters: storeTimeoutMs } = answersWithinMs;
    return new SharedCounter(store, { name, limit, windowMs, storeTimeoutMs, fallback });
  });
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

function counterStore(): CounterStore | undefined {
  return processSingleton("counter store", () => {
    const { upstash, redis } = settings();
    if (upstash) return new UpstashStore(upstash);
    return redis && new RedisStore(redis);
  });
}
