/** The deadline passed before there was an answer. The work may still finish; nobody waits for it. */
export class TimeoutError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** The promise's outcome, or a {@link TimeoutError} after `ms` milliseconds. */
export function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(ms)), ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (failure) => {
        clearTimeout(timer);
        reject(failure);
      },
    );
  });
}

const ticks = 5;

/**
 * A signal that aborts with a {@link TimeoutError} after `ms` milliseconds in which this process could have heard an
 * answer: while it is held up by its own work it hears nothing, and that time does not count. To be stopped after use.
 */
export function createTimeoutSignal(ms: number): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  let left = ticks;
  // However late a tick is, the next one comes no sooner than its share of the time after it.
  const timer = setInterval(() => {
    left--;
    if (left === 0) controller.abort(new TimeoutError(ms));
  }, ms / ticks);
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}
