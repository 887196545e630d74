import { RecentCache } from "@/lib/runtime/recent-cache";

/** A counter's decision on one request. */
export type RateLimitDecision = {
  allowed: boolean;
  /** Requests left after this one, at this instant. */
  remaining: number;
  /** Set on a refusal: a request is accepted after this wait, if no other is counted meanwhile. At least 1. */
  retryAfterSeconds?: number;
};

/**
 * An exact sliding window in this process: a request is accepted if fewer than `limit` of its key were accepted in the
 * last `windowMs`. It keeps the latest half of `maxKeys` keys at least, and drops idle ones after at most two windows.
 */
export class LocalCounter {
  /** When the accepted requests of each key were, oldest first. */
  private readonly acceptedAtMs: RecentCache<number[]>;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    maxKeys = 200_000,
  ) {
    this.acceptedAtMs = new RecentCache(maxKeys, windowMs);
  }

  /** Counts one request of this key at `nowMs`, in milliseconds of a monotonic clock. */
  consume(key: string, nowMs = performance.now()): RateLimitDecision {
    const recent = this.acceptedAtMs.get(key) ?? [];
    let expired = 0;
    while ((recent[expired] ?? nowMs) <= nowMs - this.windowMs) expired++;
    if (expired > 0) recent.splice(0, expired);
    if (recent.length >= this.limit) {
      this.acceptedAtMs.set(key, recent, nowMs);
      return refusal((recent[0] ?? nowMs) + this.windowMs - nowMs);
    }
    // Most clients send one request, and a push to an empty list allocates room for seventeen.
    const times = recent.length === 0 ? [nowMs] : recent;
    if (times === recent) times.push(nowMs);
    this.acceptedAtMs.set(key, times, nowMs);
    return { allowed: true, remaining: this.limit - times.length };
  }

  /** Takes the latest request of this key back. */
  refund(key: string): void {
    this.acceptedAtMs.get(key)?.pop();
  }
}

/** The refusal of a request that would be accepted after this time. */
export function refusal(waitMs: number): RateLimitDecision {
  return { allowed: false, remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}
