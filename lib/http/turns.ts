import type { concurrency } from "@/lib/config/limits";
import { ApiError, tooManyRequests } from "@/lib/http/errors";

const retryAfterSeconds = 2;

/** All clients together have too many waiting tasks, or one has waited for too long. */
export const overloaded = new ApiError("unavailable", {
  message: "The service has too many requests at the moment.",
  headers: { "retry-after": String(retryAfterSeconds) },
});

/** Our status for a client that left before its turn. No one receives it. */
const clientLeft = new ApiError("unavailable", { status: 499 });

/** A waiting task. `client` is `undefined` if its address is unknown. */
type Waiter = { client: string | undefined; begin: () => void };

/** Runs a limited number of tasks at once, in all and per client. The others wait, first come first served. */
export class ConcurrencyLimiter {
  private readonly running: (string | undefined)[] = [];
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly bounds: typeof concurrency) {}

  /**
   * Runs the task when a slot is free. Throws a 429 if this client has too many waiting tasks, {@link overloaded} if all
   * clients together have or the wait is too long, and whatever the task throws.
   *
   * @param signal - aborts when the result is no longer needed: a waiting task is then dropped
   */
  async run<T>(
    client: string | undefined,
    signal: AbortSignal | undefined,
    work: () => T | Promise<T>,
  ): Promise<T> {
    if (this.canStart(client)) this.running.push(client);
    else await this.wait(client, signal);
    try {
      return await work();
    } finally {
      this.running.splice(this.running.indexOf(client), 1);
      this.startNext();
    }
  }

  private canStart(client: string | undefined): boolean {
    const { atOnce, atOncePerClient } = this.bounds;
    const own = this.running.filter((one) => client && one === client).length;
    return this.running.length < atOnce && own < atOncePerClient;
  }

  private startNext(): void {
    for (const waiter of this.waiters) {
      if (!this.canStart(waiter.client)) continue;
      this.waiters.delete(waiter);
      this.running.push(waiter.client);
      waiter.begin();
    }
  }

  private async wait(client: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    const { waiting, waitingPerClient, waitMs } = this.bounds;
    const own = [...this.waiters].filter((waiter) => client && waiter.client === client).length;
    if (own >= waitingPerClient) throw tooManyRequests(retryAfterSeconds);
    if (this.waiters.size >= waiting) throw overloaded;
    const { promise, resolve: begin, reject } = Promise.withResolvers<void>();
    const waiter = { client, begin };
    this.waiters.add(waiter);
    const giveUp = (reason: ApiError) => {
      this.waiters.delete(waiter);
      reject(reason);
    };
    const timer = setTimeout(giveUp, waitMs, overloaded);
    signal?.addEventListener("abort", () => giveUp(clientLeft));
    await promise.finally(() => clearTimeout(timer));
  }
}
