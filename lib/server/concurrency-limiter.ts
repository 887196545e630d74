import { ApiError } from "@/lib/http/errors";

type Bounds = {
  /** How many pieces of work run at once, for all and for one client. */
  atOnce: number;
  atOncePerClient: number;
  /** How many may wait for their turn, and how long. */
  waiting: number;
  waitingPerClient: number;
  waitMs: number;
};

/** Work that waits for its turn. A client is `undefined` where it cannot be told from others. */
type Waiter = { client: string | undefined; begin: () => void };

/** Turns at work that many ask for: a bounded number at once, the next in their order, and nobody's before all others'. */
export class ConcurrencyLimiter {
  /** Whose work is under way. */
  private readonly running: (string | undefined)[] = [];
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly bounds: Bounds) {}

  /**
   * Does this work when its turn comes. Throws a 429 when this client has too much waiting, a 503 when all together
   * have or the turn does not come in time, and whatever the work throws.
   *
   * @param signal - aborts when nobody waits for the work any more: what has not begun then, never does
   */
  async run<T>(client: string | undefined, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
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

  private wait(client: string | undefined, signal: AbortSignal): Promise<void> {
    const { waiting, waitingPerClient, waitMs } = this.bounds;
    const own = [...this.waiters].filter((waiter) => client && waiter.client === client).length;
    if (own >= waitingPerClient)
      throw tooManyRequests(429, "Too much was asked for at once from this address.");
    if (this.waiters.size >= waiting) throw tooManyRequests(503, "Too much is asked for at the moment.");
    return new Promise((resolve, reject) => {
      const waiter = {
        client,
        begin: () => {
          settle();
          resolve();
        },
      };
      const giveUp = (reason: unknown) => {
        settle();
        reject(reason);
      };
      const abort = () => giveUp(signal.reason);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        this.waiters.delete(waiter);
      };
      const timer = setTimeout(
        () => giveUp(tooManyRequests(503, "Too much is asked for at the moment.")),
        waitMs,
      );
      signal.addEventListener("abort", abort);
      this.waiters.add(waiter);
    });
  }
}

const retryAfterSeconds = 2;

function tooManyRequests(status: 429 | 503, message: string): ApiError {
  return new ApiError("unavailable", {
    status,
    message,
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}
