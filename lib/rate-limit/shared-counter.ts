import type { Ratelimit } from "@upstash/ratelimit";
import { perProcess } from "@/lib/per-process";
import { type CounterStore, withinDeadline } from "@/lib/rate-limit/counter-store";
import { exactRatelimit, type Policy, removeLatest } from "@/lib/rate-limit/exact-window";
import { type RateLimitDecision, refusal } from "@/lib/rate-limit/local-counter";
import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";
import { RecentCache } from "@/lib/runtime/recent-cache";

const probeEveryMs = 1000; // 1 second
const maxRefusals = 10_000; // of all counters: 2 MB
const maxRound = 500; // calls: half a megabyte, of which Upstash takes one at once

type Options = Policy & {
  storeTimeoutMs: number;
  /** The fate of a request while the store is away. */
  fallback: (key: string, nowMs: number) => RateLimitDecision;
};

const refusals = perProcess("refusals of shared counters", () => new RecentCache<number>(maxRefusals));

type Spend = { key: string; nowMs: number; decide: (decision: RateLimitDecision) => void };

/**
 * Counts the last `windowMs` themselves, in a Redis that every instance shares. It never throws: a store that is down,
 * slow or wrong is away, and is asked at most once a second until it answers again.
 *
 * The store is asked in rounds, one at a time: what comes while a round is under way goes with the next. So a burst
 * waits for itself, and the deadline is the store's alone, one for a round. A refusal is remembered until it ends, but the
 * store is asked once a second all the same: while it is away, no one is refused for what it said.
 */
export class SharedCounter {
  private readonly ratelimit: Ratelimit;
  private waiting: Spend[] = [];
  private isAsking = false;
  private isAway = false;
  private probeAtMs = 0;

  constructor(
    private readonly store: CounterStore,
    private readonly options: Options,
  ) {
    this.ratelimit = exactRatelimit(store, options);
  }

  /** What a request of this key gets as far as this process knows. It keeps nothing. */
  peek(key: string, nowMs = performance.now()): RateLimitDecision {
    const leftMs = this.isAway ? 0 : (refusals().get(this.nameOf(key)) ?? 0) - nowMs;
    return leftMs > 0 ? refusal(leftMs) : { allowed: true, remaining: this.options.limit - 1 };
  }

  /** Spends one request of this key at `nowMs`, which is `performance.now()`. */
  consume(key: string, nowMs = performance.now()): RateLimitDecision | Promise<RateLimitDecision> {
    if (nowMs < this.probeAtMs) {
      if (this.isAway) return this.options.fallback(key, nowMs);
      const known = this.peek(key, nowMs);
      if (!known.allowed) return known;
    }
    this.probeAtMs = nowMs + probeEveryMs;
    return new Promise((decide) => {
      this.waiting.push({ key, nowMs, decide });
      if (!this.isAsking) void this.consumeInBatches();
    });
  }

  /** Takes the latest request of this key back, if the store answers. */
  refund(key: string): void {
    refusals().set(this.nameOf(key), 0);
    removeLatest(this.store, this.options.name, `{${key}}`).catch(() => {});
  }

  private async consumeInBatches(): Promise<void> {
    this.isAsking = true;
    while (this.waiting.length > 0) {
      // Calls of the same turn go together.
      await new Promise((resolve) => setImmediate(resolve));
      const undecided = new Set(this.waiting.splice(0, maxRound));
      const asked = [...undecided].map(async (spend) => {
        // The braces are a hash tag: all keys of a client are on one node of a cluster.
        const { success, remaining, reset } = await this.ratelimit.limit(`{${spend.key}}`);
        undecided.delete(spend);
        spend.decide(success ? { allowed: true, remaining } : this.refuse(spend.key, reset - Date.now()));
      });
      const answered = withinDeadline(this.store, this.options.storeTimeoutMs, Promise.all(asked));
      this.note(await answered.then(() => undefined).catch((failure) => failure));
      if (!this.isAway) continue;
      for (const { key, nowMs, decide } of [...undecided, ...this.waiting.splice(0)]) {
        decide(this.options.fallback(key, nowMs));
      }
    }
    this.isAsking = false;
  }

  private nameOf(key: string): string {
    return `${this.options.name} ${key}`;
  }

  private refuse(key: string, waitMs: number): RateLimitDecision {
    refusals().set(this.nameOf(key), performance.now() + waitMs);
    return refusal(waitMs);
  }

  private note(failure: unknown): void {
    const wasAway = this.isAway;
    this.isAway = failure !== undefined;
    metrics()?.counterStoreUp.set({ quota: this.options.name }, this.isAway ? 0 : 1);
    if (this.isAway === wasAway) return;
    const { name } = this.options;
    // Only its kind: the message of a store's error can quote the command.
    const kind = failure instanceof Error ? failure.name : typeof failure;
    if (this.isAway)
      log().warn({ counter: name, kind }, "the counter store is unavailable; it is retried every second");
    else log().info({ counter: name }, "the counter store is available again");
  }
}
