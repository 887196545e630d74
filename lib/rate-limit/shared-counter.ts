import { Ratelimit } from "@upstash/ratelimit";
import type { Redis } from "@upstash/redis";
import * as z from "zod";
import type { CounterStore } from "@/lib/rate-limit/counter-store";
import type { RateLimitDecision } from "@/lib/rate-limit/local-counter";
import { ScriptBatch } from "@/lib/rate-limit/script-batch";
import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";
import { createTimeoutSignal } from "@/lib/runtime/timeout";

const probeEveryMs = 1000; // 1 second
const maxRefusals = 100_000;

type Options = {
  name: string;
  limit: number;
  windowMs: number;
  /** How long the store may take over a round. */
  storeTimeoutMs: number;
  /** What becomes of a request while the store is away. */
  fallback: (key: string, nowMs: number) => RateLimitDecision;
};

type Spend = { key: string; nowMs: number; decide: (decision: RateLimitDecision) => void };
type Refused = Spend & { windowEndsAtMs: number };

/**
 * A sliding-window counter in a Redis that every instance shares, with the arithmetic of `@upstash/ratelimit`: the
 * count of the window before weighs as much as of it still overlaps the last `windowMs`. It never throws: a store that
 * is down, slow or wrong is away, and is asked at most once a second until it answers again.
 *
 * The store is asked in rounds, one at a time: what comes while a round is under way goes with the next. So a burst
 * waits for itself, and the deadline is the store's alone, one for a round. A refusal is remembered until it ends.
 */
export class SharedCounter {
  private readonly library: Ratelimit;
  private readonly replySchema: z.ZodType;
  private readonly refusedUntilMs = new Map<string, number>();
  private batch: ScriptBatch | undefined;
  private waiting: Spend[] = [];
  private isAsking = false;
  private isAway = false;
  private probeAtMs = 0;

  constructor(
    private readonly store: CounterStore,
    private readonly options: Options,
  ) {
    const { name, limit, windowMs } = options;
    this.replySchema = z.tuple([z.int().min(-1).max(limit), z.literal(limit)]);
    this.library = new Ratelimit({
      redis: this.storeOfLibrary() as unknown as Redis,
      limiter: Ratelimit.slidingWindow(limit, `${windowMs} ms`),
      prefix: `corner-office:${name}`,
      // Its own timeout allows with a limit of 0, and its cache refuses for longer than the window says.
      timeout: 0,
      ephemeralCache: false,
    });
  }

  /** Whether the store answered when it was last asked. */
  get isUp(): boolean {
    return !this.isAway;
  }

  /** Spends one request of this key at `nowMs`, milliseconds of a clock that never steps back. */
  consume(key: string, nowMs: number): RateLimitDecision | Promise<RateLimitDecision> {
    if (!this.isAway) {
      const leftMs = (this.refusedUntilMs.get(key) ?? 0) - nowMs;
      if (leftMs > 0) return errorParts(leftMs);
    } else if (nowMs < this.probeAtMs) {
      return this.options.fallback(key, nowMs);
    }
    this.probeAtMs = nowMs + probeEveryMs;
    return new Promise((decide) => {
      this.waiting.push({ key, nowMs, decide });
      if (!this.isAsking) this.consumeInBatches();
    });
  }

  private async consumeInBatches(): Promise<void> {
    this.isAsking = true;
    while (this.waiting.length > 0) {
      const round = this.waiting;
      this.waiting = [];
      const deadline = createTimeoutSignal(this.options.storeTimeoutMs);
      const undecided = await this.ask(round, deadline.signal);
      deadline.stop();
      if (this.isAway) undecided.push(...this.waiting.splice(0));
      for (const { key, nowMs, decide } of undecided) decide(this.options.fallback(key, nowMs));
    }
    this.isAsking = false;
  }

  /** Decides what the store decides, and answers the rest. */
  private async ask(round: Spend[], signal: AbortSignal): Promise<Spend[]> {
    this.batch = new ScriptBatch(this.store, signal);
    const askedAtMs = Date.now();
    const answers = await Promise.allSettled(round.map(({ key }) => this.library.limit(key)));
    const undecided: Spend[] = [];
    const refused: Refused[] = [];
    let failure: unknown;
    for (const [at, answer] of answers.entries()) {
      const consume = round[at] as Spend;
      if (answer.status === "rejected") {
        failure = answer.reason;
        undecided.push(consume);
      } else if (answer.value.success) consume.decide({ allowed: true, remaining: answer.value.remaining });
      else refused.push({ ...consume, windowEndsAtMs: answer.value.reset });
    }
    this.note(failure);
    if (refused.length > 0) await this.refuse(refused, askedAtMs, signal);
    return undecided;
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

  /** The library tells only that a request is refused: the counts say until when. */
  private async refuse(refused: Refused[], askedAtMs: number, signal: AbortSignal): Promise<void> {
    const { name, limit, windowMs } = this.options;
    const reads = new Map<string, string[]>();
    for (const { key, windowEndsAtMs } of refused) {
      const window = windowEndsAtMs / windowMs - 1;
      reads.set(key, ["MGET", ...[window, window - 1].map((at) => `corner-office:${name}:${key}:${at}`)]);
    }
    const replies = await this.store.run([...reads.values()], signal).catch(() => []);
    const counts = new Map(
      [...reads.keys()].map((key, at) => [key, countsSchema.safeParse(replies[at]).data]),
    );
    if (this.refusedUntilMs.size + refused.length > maxRefusals) this.refusedUntilMs.clear();
    for (const { key, nowMs, windowEndsAtMs, decide } of refused) {
      const elapsedMs = windowMs - (windowEndsAtMs - askedAtMs);
      const [count, before] = counts.get(key) ?? [limit, 0];
      const waitMs = countWaitMs({ limit, windowMs, elapsedMs, count, before });
      this.refusedUntilMs.set(key, nowMs + waitMs);
      decide(errorParts(waitMs));
    }
  }

  /** What the library takes for its client. It asks by the hash of its own text, which is not what every store takes. */
  private storeOfLibrary() {
    return {
      evalsha: () => Promise.reject(unknownScript),
      eval: async (script: string, keys: string[], values: unknown[]) =>
        this.replySchema.parse(await this.batch?.call(script, keys, values)),
    };
  }
}

const unknownScript = new Error("NOSCRIPT");

const count = z.union([z.null().transform(() => 0), z.coerce.number().int().min(0)]);
const countsSchema = z.tuple([count, count]);

function errorParts(waitMs: number): RateLimitDecision {
  return { allowed: false, remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}

type Window = { limit: number; windowMs: number; elapsedMs: number; count: number; before: number };

/**
 * After how many milliseconds a sliding window lets in a request that it refuses now, if nobody else is let in.
 *
 * @param window - how much of it is over, and the requests in it and in the one before
 */
function countWaitMs({ limit, windowMs, elapsedMs, count, before }: Window): number {
  // Either enough of the window before slides out, or this one has to become the window before.
  const freeAtMs =
    count < limit ? windowMs * (1 - (limit - count) / before) : windowMs + windowMs * (1 - limit / count);
  // One millisecond more, because at the very instant the weights are still equal.
  return Math.floor(freeAtMs) + 1 - elapsedMs;
}
