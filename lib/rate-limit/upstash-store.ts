import type { Redis } from "@upstash/redis";
import type { CounterStore } from "@/lib/rate-limit/counter-store";

const maxRequestMs = 2000; // 2 seconds: a counter's own deadline is shorter

/** Upstash's Redis, over its REST API. */
export class UpstashStore implements CounterStore {
  readonly name = "Upstash";
  private readonly redis: Promise<Redis>;

  constructor(at: { url: string; token: string }) {
    this.redis = import("@upstash/redis").then(
      ({ Redis }) =>
        new Redis({
          ...at,
          retry: { retries: 0 },
          responseEncoding: false,
          enableTelemetry: false,
          signal: () => AbortSignal.timeout(maxRequestMs),
        }),
    );
  }

  async evalsha(sha1: string, keys: string[], args: unknown[]): Promise<unknown> {
    return (await this.redis).evalsha(sha1, keys, args);
  }

  async eval(script: string, keys: string[], args: unknown[]): Promise<unknown> {
    return (await this.redis).eval(script, keys, args);
  }
}
