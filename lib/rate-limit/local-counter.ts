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
  private readonly windows: RecentCache<ClientWindow>;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    maxKeys = 200_000,
  ) {
    this.windows = new RecentCache(maxKeys, windowMs);
  }

  /** Counts one request of this key at `nowMs`, in milliseconds of a monotonic clock. */
  consume(key: string, nowMs = performance.now()): RateLimitDecision {
    const recent = this.windows.get(key) ?? new ClientWindow();
    this.windows.set(key, recent, nowMs);
    recent.expireUntil(nowMs - this.windowMs);
    if (recent.count >= this.limit) {
      return refusal(recent.oldestMs + this.windowMs - nowMs);
    }
    recent.add(nowMs);
    return { allowed: true, remaining: this.limit - recent.count };
  }

  /** Takes the latest request of this key back. */
  refund(key: string): void {
    this.windows.get(key)?.removeLatest();
  }
}

/** The refusal of a request that would be accepted after this time. */
export function refusal(waitMs: number): RateLimitDecision {
  return { allowed: false, remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}

/** The times of one key's accepted requests, oldest first. */
class ClientWindow {
  private atMs: number[] = [];
  private first = 0;

  get count(): number {
    return this.atMs.length - this.first;
  }

  get oldestMs(): number {
    return this.atMs[this.first] ?? 0;
  }

  add(nowMs: number): void {
    // Most clients send one request, and a push would allocate room for seventeen.
    if (this.atMs.length === 0) this.atMs = [nowMs];
    else this.atMs.push(nowMs);
  }

  removeLatest(): void {
    if (this.count > 0) this.atMs.pop();
  }

  expireUntil(ms: number): void {
    const { atMs } = this;
    while (this.first < atMs.length && (atMs[this.first] ?? 0) <= ms) this.first++;
    // Half at a time: removing one per request would move all others, 20 µs for a hundred thousand.
    if (this.first * 2 > atMs.length) {
      atMs.splice(0, this.first);
      this.first = 0;
    }
  }
}
