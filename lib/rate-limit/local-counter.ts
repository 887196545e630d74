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
  private readonly windows: RecentCache<{ acceptedAtMs: number[]; first: number }>;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    maxKeys = 100_000,
  ) {
    this.windows = new RecentCache(maxKeys, windowMs);
  }

  /** Counts one request of this key at `nowMs`, in milliseconds of a monotonic clock. */
  consume(key: string, nowMs = performance.now()): RateLimitDecision {
    // Most clients send one request, and a push to an empty list allocates room for seventeen.
    const known = this.windows.get(key);
    const recent = known ?? { acceptedAtMs: [nowMs], first: 0 };
    this.windows.set(key, recent, nowMs);
    if (!known) return { allowed: true, remaining: this.limit - 1 };
    const { acceptedAtMs } = recent;
    while ((acceptedAtMs[recent.first] ?? nowMs) <= nowMs - this.windowMs) recent.first++;
    // Half at a time: removing one per request would move all others, 20 µs for a hundred thousand.
    if (recent.first * 2 > acceptedAtMs.length) {
      acceptedAtMs.splice(0, recent.first);
      recent.first = 0;
    }
    const oldestAtMs = acceptedAtMs[recent.first] ?? nowMs;
    if (acceptedAtMs.length - recent.first >= this.limit) return refusal(oldestAtMs + this.windowMs - nowMs);
    acceptedAtMs.push(nowMs);
    return { allowed: true, remaining: this.limit - (acceptedAtMs.length - recent.first) };
  }

  /** Takes the latest request of this key back. */
  refund(key: string): void {
    const recent = this.windows.get(key);
    if (recent && recent.acceptedAtMs.length > recent.first) recent.acceptedAtMs.pop();
  }
}

/** The refusal of a request that would be accepted after this time. */
export function refusal(waitMs: number): RateLimitDecision {
  return { allowed: false, remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}
