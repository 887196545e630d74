import { answersWithinMs, rateLimits } from "@/lib/config/limits";
import { processSingleton } from "@/lib/process-singleton";
import { consumeLimit } from "@/lib/rate-limit/rate-limit";
import { TimeoutError, withTimeout } from "@/lib/runtime/timeout";

/*
 * Every call to Clerk that a request causes goes through here, because anyone can send requests, and Clerk limits and
 * bills our calls. The bounds: `rateLimits.clerkCalls`, a concurrency limit and a timeout.
 * After a timeout, calls fail at once for a few seconds.
 */
const maxConcurrent = 20;
const pauseMs = 5000; // 5 seconds

/** Clerk was not called: a limit is reached, or it timed out a moment ago. */
export class ClerkCallLimitError extends Error {}

/** Calls Clerk for a request. Throws a {@link ClerkCallLimitError}, a `TimeoutError`, or the call's own error. */
export async function callClerk<T>(headers: Headers, call: () => Promise<T>): Promise<T> {
  const calls = processSingleton("calls to Clerk", () => ({ running: 0, unavailableUntilMs: 0 }));
  if (performance.now() < calls.unavailableUntilMs) throw new ClerkCallLimitError("Clerk does not answer");
  if (calls.running >= maxConcurrent) throw new ClerkCallLimitError("Clerk has enough to do");
  calls.running++;
  try {
    if (await consumeLimit("clerk", rateLimits.clerkCalls, { headers, browser: undefined }))
      throw new ClerkCallLimitError("Clerk was asked enough");
    return await withTimeout(answersWithinMs.clerk, call());
  } catch (failure) {
    if (failure instanceof TimeoutError) calls.unavailableUntilMs = performance.now() + pauseMs;
    throw failure;
  } finally {
    calls.running--;
  }
}
