/** What a counter says of one request. */
export type RateLimitDecision = {
  allowed: boolean;
  /** Requests left after this one, at this instant. */
  remaining: number;
  /** On a refusal: after waiting this long a request is accepted, if nobody else spends meanwhile. At least 1. */
  retryAfterSeconds?: number;
};

/**
 * Counts the last `windowMs` themselves, in this process: a request is accepted when fewer than `limit` of its key
 * were within them. A refusal is not counted. It remembers at most `maxKeys` keys, and forgets the oldest tenth
 * when they are more; a key that was silent for two windows is forgotten in any case.
 */
export class LocalCounter {
  private keys = new Map<string, ClientWindow>();
  private keysBefore = new Map<string, ClientWindow>();
  private turnAtMs = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    private readonly maxKeys = 100_000,
  ) {}

  get size(): number {
    return this.keys.size + this.keysBefore.size;
  }

  /** Spends one request of this key at `nowMs`, milliseconds of a clock that never steps back. */
  consume(key: string, nowMs: number): RateLimitDecision {
    if (nowMs >= this.turnAtMs) this.rotate(nowMs);
    const recent = this.windowOf(key);
    recent.expireUntil(nowMs - this.windowMs);
    if (recent.count >= this.limit) {
      const waitMs = recent.oldestMs + this.windowMs - nowMs;
      return { allowed: false, remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
    }
    recent.add(nowMs);
    return { allowed: true, remaining: this.limit - recent.count };
  }

  private windowOf(key: string): ClientWindow {
    const known = this.keys.get(key);
    if (known) return known;
    const before = this.keysBefore.get(key);
    if (before) this.keysBefore.delete(key);
    else if (this.size >= this.maxKeys) this.evictOldest();
    const recent = before ?? new ClientWindow();
    this.keys.set(key, recent);
    return recent;
  }

  /** Forgets the keys that were silent since the turn before, which is a window ago or more. */
  private rotate(nowMs: number): void {
    this.keysBefore = this.keys;
    this.keys = new Map();
    this.turnAtMs = nowMs + this.windowMs;
  }

  private evictOldest(): void {
    const oldest = this.keysBefore.size > 0 ? this.keysBefore : this.keys;
    let left = Math.ceil(this.maxKeys / 10);
    for (const key of oldest.keys()) {
      if (left-- === 0) break;
      oldest.delete(key);
    }
  }
}

/** The instants of one key's accepted requests, oldest first. */
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
    // Most clients come once, and the first push makes room for seventeen.
    if (this.atMs.length === 0) this.atMs = [nowMs];
    else this.atMs.push(nowMs);
  }

  expireUntil(ms: number): void {
    const { atMs } = this;
    while (this.first < atMs.length && (atMs[this.first] ?? 0) <= ms) this.first++;
    // Half at a time: each request would else move all that are left, 20 µs where a hundred thousand are allowed.
    if (this.first * 2 > atMs.length) {
      atMs.splice(0, this.first);
      this.first = 0;
    }
  }
}
