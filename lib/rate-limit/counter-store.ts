import { afterOwnTime } from "@/lib/runtime/timeout";

/**
 * The Redis in which all instances count: what our algorithm needs of `@upstash/redis`, over any connection. Calls of the
 * same turn of the event loop go out together. A call rejects if there is no answer, or with the store's refusal.
 */
export type CounterStore = {
  /** What an operator calls it. */
  readonly name: string;
  eval(script: string, keys: string[], args: unknown[]): Promise<unknown>;
  /** Closes the connection, where a late answer would hold up the next one's. */
  drop?(): void;
};

/** Returns what the store answers. After `ms` milliseconds, drops its connection and throws a `TimeoutError`. */
export async function withinDeadline<T>(store: CounterStore, ms: number, answer: Promise<T>): Promise<T> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const stop = afterOwnTime(ms, (reason) => {
    store.drop?.();
    reject(reason);
  });
  return Promise.race([answer, deadline]).finally(stop);
}
