/** What a counter says of one request. */
export type Decision = {
  allowed: boolean;
  /** Requests left after this one, at this instant. */
  remaining: number;
  /** On a refusal: after waiting this long a request is accepted, if nobody else spends meanwhile. At least 1. */
  retryAfterSeconds?: number;
};

/**
 * A sliding-window counter in this process, with the arithmetic of `@upstash/ratelimit`: the count of the
 * window before weighs as much as of it still overlaps the last `windowMs`. A refusal is not counted.
 * It remembers at most `mostKeys` keys and forgets the oldest tenth when they are more.
 */
export class ProcessCounter {
  private window = 0;
  private current = new Map<string, number>();
  private previous = new Map<string, number>();

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    private readonly mostKeys = 100_000,
  ) {}

  get size(): number {
    return this.current.size + this.previous.size;
  }

  /** Spends one request of this key at `nowMs`, Unix milliseconds. */
  spend(key: string, nowMs: number): Decision {
    this.turnTo(Math.floor(nowMs / this.windowMs));
    const elapsedMs = Math.max(0, nowMs - this.window * this.windowMs);
    const before = this.previous.get(key) ?? 0;
    const count = this.current.get(key) ?? 0;
    const weighed = Math.floor((1 - elapsedMs / this.windowMs) * before);
    if (weighed + count >= this.limit) {
      const freeAtMs =
        count < this.limit ? this.windowMs * (1 - (this.limit - count) / before) : this.windowMs;
      return {
        allowed: false,
        remaining: 0,
        // One millisecond more, because at the very instant the weights are still equal.
        retryAfterSeconds: Math.max(1, Math.ceil((freeAtMs - elapsedMs + 1) / 1000)),
      };
    }
    if (count === 0) this.makeRoom();
    this.current.set(key, count + 1);
    return { allowed: true, remaining: this.limit - weighed - count - 1 };
  }

  /** A clock that steps back stays in the window it was in. */
  private turnTo(window: number): void {
    if (window <= this.window) return;
    this.previous = window === this.window + 1 ? this.current : new Map();
    this.current = new Map();
    this.window = window;
  }

  private makeRoom(): void {
    if (this.size < this.mostKeys) return;
    const oldest = this.previous.size > 0 ? this.previous : this.current;
    let left = Math.ceil(this.mostKeys / 10);
    for (const key of oldest.keys()) {
      if (left-- === 0) break;
      oldest.delete(key);
    }
  }
}
