import { Ratelimit, type RatelimitConfig } from "@upstash/ratelimit";
import * as z from "zod";
import type { CounterStore } from "@/lib/rate-limit/counter-store";

/** At most `limit` requests of a client in any `windowMs`. */
export type Policy = {
  name: string;
  limit: number;
  windowMs: number;
  /** Unix milliseconds; only tests set it. By default the store's own clock decides, so that instances agree. */
  clock?: (() => number) | undefined;
};

/**
 * A client's key lists when its accepted requests of the last window were, in Unix milliseconds, oldest first: at most
 * `limit` of them, and none once it has been silent for a window. Replies with the requests left, or -1 on a refusal, and
 * after how many milliseconds one is accepted.
 */
const script = `
local key, limit, window, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not now then
  local time = redis.call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  -- Dragonfly has no clock in scripts: no request would ever leave the window.
  if now == 0 then return redis.error_reply("ERR TIME is 0 in scripts of this store") end
end
local function at(index) return tonumber(redis.call("LINDEX", key, index) or nil) end

-- The clock stepped back, or a replica with a slower one took over: later requests count as made now.
local last = -1
while (at(last) or now) > now do
  redis.call("LSET", key, last, now)
  last = last - 1
end

while (at(0) or now) <= now - window do redis.call("LPOP", key) end
local count = redis.call("LLEN", key)
if count >= limit then return { -1, at(count - limit) + window - now } end
redis.call("RPUSH", key, now)
redis.call("PEXPIRE", key, window)
return { limit - count - 1, 0 }
`;

/** A limiter of `@upstash/ratelimit` that counts in this store, exactly. `reset` is when a request is accepted again. */
export function exactRatelimit(store: CounterStore, { name, limit, windowMs, clock }: Policy): Ratelimit {
  const schema = z.tuple([z.int().gte(-1).lt(limit), z.int().gte(0).lte(windowMs)]);
  const algorithm = {
    async limit(_: unknown, key: string) {
      const args = [limit, windowMs, ...(clock ? [clock()] : [])];
      const [left, waitMs] = schema.parse(await store.eval(script, [key], args));
      const [success, remaining] = [!(left < 0), Math.max(0, left)];
      return { success, limit, remaining, reset: Date.now() + waitMs, pending: Promise.resolve() };
    },
  };
  return new Ratelimit({
    redis: store as unknown as RatelimitConfig["redis"],
    // We call no more than `limit` of an algorithm.
    limiter: () => algorithm as ReturnType<RatelimitConfig["limiter"]>,
    prefix: prefixOf(name),
    // Its own timeout allows with a limit of 0, and its cache goes by the wall clock.
    timeout: 0,
    ephemeralCache: false,
    enableTelemetry: false,
  });
}

const prefixOf = (name: string) => `corner-office:${name}`;

/** Takes the latest accepted request of a client back. */
export async function removeLatest(store: CounterStore, name: string, key: string): Promise<void> {
  await store.eval('return redis.call("RPOP", KEYS[1])', [`${prefixOf(name)}:${key}`], []);
}
