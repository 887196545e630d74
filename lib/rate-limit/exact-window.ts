import { createHash } from "node:crypto";
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
end
local function at(index) return tonumber(redis.call("LINDEX", key, index) or nil) end

-- The clock stepped back, or a replica with a slower one took over: later requests count as made now.
local later = 0
while (at(-1) or now) > now do
  redis.call("RPOP", key)
  later = later + 1
end
for _ = 1, later do redis.call("RPUSH", key, now) end

while (at(0) or now) <= now - window do redis.call("LPOP", key) end
local count = redis.call("LLEN", key)
if count >= limit then return { -1, at(count - limit) + window - now } end
redis.call("RPUSH", key, now)
redis.call("PEXPIRE", key, window)
return { limit - count - 1, 0 }
`;
const sha1 = createHash("sha1").update(script).digest("hex");

/** What the store decided: the requests left, -1 on a refusal, and after how many milliseconds one is accepted. */
export type Spent = { left: number; waitMs: number };

/** Returns a function that spends one request of a client, counted exactly in this store. It throws if the store does. */
export function exactWindow(
  store: CounterStore,
  { name, limit, windowMs, clock }: Policy,
): (client: string) => Promise<Spent> {
  const left = z
    .int()
    .min(-1)
    .max(limit - 1);
  const schema = z.tuple([left, z.int().min(0).max(windowMs)]);
  return async (client) => {
    const keys = [keyOf(name, client)];
    const args = [limit, windowMs, ...(clock ? [clock()] : [])];
    // The store is given the script's text only if it does not have it: when it is new, or was restarted.
    const answer = await store.evalsha(sha1, keys, args).catch((failure) => {
      if (!isUnknownScript(failure)) throw failure;
      return store.eval(script, keys, args);
    });
    const [left, waitMs] = schema.parse(answer);
    return { left, waitMs };
  };
}

/** The braces are a hash tag: all keys of a client are on one node of a cluster. */
const keyOf = (name: string, client: string) => `corner-office:${name}:{${client}}`;

/** Takes the latest accepted request of a client back. */
export async function removeLatest(store: CounterStore, name: string, client: string): Promise<void> {
  await store.eval('return redis.call("RPOP", KEYS[1])', [keyOf(name, client)], []);
}

/** Whether the store refused because it does not have the script yet. */
export function isUnknownScript(failure: unknown): boolean {
  return failure instanceof Error && failure.message.includes("NOSCRIPT");
}
