import { maxCounterBytes } from "@/lib/config/limits";
import { perProcess } from "@/lib/per-process";

/** A counter's decision on one request. */
export type RateLimitDecision = {
  allowed: boolean;
  /** Requests left after this one, at this instant. */
  remaining: number;
  /** Set on a refusal: a request is accepted after this wait, if no other is counted meanwhile. At least 1. */
  retryAfterSeconds?: number;
};

// As measured, and rather too much.
const bytesOfKey = 300;
const bytesOfRequest = 16;

/** What all counters of a process keep together, in bytes. */
export class CounterMemory {
  private readonly counters: LocalCounter[] = [];
  private bytes = 0;
  /** Of these, of keys that are refused. */
  private refusedBytes = 0;

  constructor(readonly maxBytes: number) {}

  add(counter: LocalCounter): void {
    this.counters.push(counter);
  }

  /** Notes that counters keep more, or less. Beyond the bound, the largest one forgets what it has not used lately. */
  grow(bytes: number, nowMs: number): void {
    this.bytes += bytes;
    while (this.bytes > this.maxBytes)
      this.counters
        .reduce((one, other) => (other.forgettable > one.forgettable ? other : one))
        .forgetOld(nowMs);
  }

  /** Whether a counter may keep so much more, or less, of keys that are refused: together, half of the memory. */
  keepRefused(bytes: number): boolean {
    if (bytes > 0 && this.refusedBytes + bytes > this.maxBytes / 2) return false;
    this.refusedBytes += bytes;
    return true;
  }
}

const ofProcess = perProcess("memory of counters", () => new CounterMemory(maxCounterBytes));

type Window = { acceptedAtMs: number[]; first: number };
const bytesOf = ({ acceptedAtMs }: Window) => bytesOfKey + bytesOfRequest * acceptedAtMs.length;

type Generation = { windows: Map<string, Window>; bytes: number };

/**
 * An exact sliding window in this process: a request is accepted if fewer than `limit` of its key were accepted in the
 * last `windowMs`. It keeps the keys used lately in two generations: idle ones at most for two windows, and all of them at
 * most for a quarter of the memory, because dropping a whole generation is cheaper than key by key. Those that are refused
 * leave last: a flood of other keys must not give them a new allowance.
 */
export class LocalCounter {
  private young: Generation = { windows: new Map(), bytes: 0 };
  private old: Generation = { windows: new Map(), bytes: 0 };
  private beganAtMs = 0;
  /** What refused keys hold that were kept when their generation left. */
  private refusedBytes = 0;

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    private readonly memory = ofProcess(),
  ) {
    memory.add(this);
  }

  get bytes(): number {
    return this.young.bytes + this.old.bytes;
  }

  /** What it may forget of these: all but refused keys that it has kept. */
  get forgettable(): number {
    return this.bytes - this.refusedBytes;
  }

  /** What a request of this key would get at `nowMs`, without counting it. It keeps nothing. */
  peek(key: string, nowMs = performance.now()): RateLimitDecision {
    return this.decide(this.young.windows.get(key) ?? this.old.windows.get(key), nowMs);
  }

  /** Counts one request of this key at `nowMs`, in milliseconds of a monotonic clock, unless it is refused. */
  consume(key: string, nowMs = performance.now()): RateLimitDecision {
    if (nowMs - this.beganAtMs >= this.windowMs || this.young.bytes > this.memory.maxBytes / 4) {
      this.forgetOld(nowMs);
      this.beganAtMs = nowMs;
    }
    const young = this.young.windows.get(key);
    const recent = young ?? this.old.windows.get(key);
    const decision = this.decide(recent, nowMs);
    if (!young) {
      // Most clients send one request, and a push to an empty list allocates room for seventeen.
      const kept = recent ?? { acceptedAtMs: [nowMs], first: 0 };
      this.young.windows.set(key, kept);
      this.grow(bytesOf(kept), nowMs);
    }
    if (recent && decision.allowed) this.accept(recent, nowMs);
    return decision;
  }

  private decide(recent: Window | undefined, nowMs: number): RateLimitDecision {
    if (!recent) return { allowed: true, remaining: this.limit - 1 };
    const { acceptedAtMs } = recent;
    while ((acceptedAtMs[recent.first] ?? nowMs) <= nowMs - this.windowMs) recent.first++;
    const remaining = this.limit - (acceptedAtMs.length - recent.first) - 1;
    if (remaining < 0) return refusal((acceptedAtMs[recent.first] ?? nowMs) + this.windowMs - nowMs);
    return { allowed: true, remaining };
  }

  private accept(recent: Window, nowMs: number): void {
    const { acceptedAtMs, first } = recent;
    // Half at a time: removing one per request would move all others, 20 µs for a hundred thousand.
    if (first * 2 > acceptedAtMs.length) {
      acceptedAtMs.splice(0, first);
      recent.first = 0;
      this.grow(-bytesOfRequest * first, nowMs);
    }
    acceptedAtMs.push(nowMs);
    this.grow(bytesOfRequest, nowMs);
  }

  private grow(bytes: number, nowMs: number): void {
    this.young.bytes += bytes;
    this.memory.grow(bytes, nowMs);
  }

  /** Drops what was last used in the generation before this one, and is not refused. */
  forgetOld(nowMs: number): void {
    const { windows, bytes } = this.old;
    const { memory } = this;
    memory.keepRefused(-this.refusedBytes);
    this.refusedBytes = 0;
    this.old = this.young;
    this.young = { windows: new Map(), bytes: 0 };
    for (const [key, recent] of windows) {
      if (recent.acceptedAtMs.length < this.limit || this.old.windows.has(key)) continue;
      const held = bytesOf(recent);
      if (this.decide(recent, nowMs).allowed || !memory.keepRefused(held)) continue;
      this.old.windows.set(key, recent);
      this.old.bytes += held;
      this.refusedBytes += held;
    }
    memory.grow(this.refusedBytes - bytes, nowMs);
  }

  /** Takes the latest request of this key back. */
  refund(key: string): void {
    const recent = this.young.windows.get(key) ?? this.old.windows.get(key);
    if (recent && recent.acceptedAtMs.length > recent.first) recent.acceptedAtMs.pop();
  }
}

/** The refusal of a request that would be accepted after this time. */
export function refusal(waitMs: number): RateLimitDecision {
  return { allowed: false, remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}
