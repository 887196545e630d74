/** There was no result before the deadline. The work may still finish, but its result is ignored. */
export class TimeoutError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** Returns the promise's result, or throws a {@link TimeoutError} after `ms`: see `answersWithinMs` in `config/limits.ts`. */
export function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(ms)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const ticks = 5;

/**
 * Calls `late` with a {@link TimeoutError} after `ms` milliseconds, unless the returned function is called before. Time in
 * which this process blocks its own event loop does not count, because it could not have received an answer then.
 */
export function afterOwnTime(ms: number, late: (reason: TimeoutError) => void): () => void {
  let left = ticks;
  // A late tick does not shorten the interval before the next one.
  const timer = setInterval(() => {
    left--;
    if (left === 0) late(new TimeoutError(ms));
  }, ms / ticks);
  return () => clearInterval(timer);
}
