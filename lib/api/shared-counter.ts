import { Ratelimit } from "@upstash/ratelimit";
import { Redis } from "@upstash/redis";
import { z } from "zod";
import type { Decision } from "@/lib/api/process-counter";
import { log } from "@/lib/process/log";

const deadlineMs = 250;
const probeEveryMs = 1000; // 1 second

/**
 * A sliding-window counter in Upstash Redis, shared by every instance. It never throws: a store that is
 * down, slow or wrong allows the request with nothing remaining, and is asked at most once a second
 * until it answers again.
 */
export class SharedCounter {
  private readonly ratelimit: Ratelimit;
  private isDown = false;
  private probeAtMs = 0;

  constructor(
    store: { url: string; token: string },
    name: string,
    private readonly limit: number,
    windowMs: number,
  ) {
    const redis = new Redis({
      ...store,
      retry: { retries: 0, backoff: () => 0 },
      signal: () => AbortSignal.timeout(deadlineMs),
      enableTelemetry: false,
    });
    this.ratelimit = new Ratelimit({
      redis,
      limiter: Ratelimit.slidingWindow(limit, `${windowMs} ms`),
      prefix: `corner-office:${name}`,
      // Its own timeout allows with a limit of 0, and its cache refuses for longer than the window says.
      timeout: 0,
      ephemeralCache: false,
    });
  }

  /** Spends one request of this key at `nowMs`, milliseconds of a clock that never steps back. */
  async spend(key: string, nowMs: number): Promise<Decision> {
    if (this.isDown && nowMs < this.probeAtMs) return { allowed: true, remaining: 0 };
    this.probeAtMs = nowMs + probeEveryMs;
    try {
      const answer = answerSchema(this.limit).parse(await this.ratelimit.limit(key));
      if (this.isDown) log().info("the counter store answers again");
      this.isDown = false;
      if (answer.success) return { allowed: true, remaining: answer.remaining };
      const retryAfterSeconds = Math.max(1, Math.ceil((answer.reset - Date.now() + 1) / 1000));
      return { allowed: false, remaining: 0, retryAfterSeconds };
    } catch (failure) {
      // Only its kind: the message of a store's error quotes the command.
      const kind = failure instanceof Error ? failure.name : typeof failure;
      if (!this.isDown)
        log().warn({ kind }, "the counter store does not answer: requests are allowed uncounted");
      this.isDown = true;
      return { allowed: true, remaining: 0 };
    }
  }
}

const answerSchema = (limit: number) =>
  z.object({ success: z.boolean(), remaining: z.int().min(0).max(limit), reset: z.number() });
