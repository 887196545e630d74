import { answersWithinMs, rateLimits } from "@/lib/config/limits";
import { ApiError } from "@/lib/http/errors";
import { turnsOf } from "@/lib/http/turns";
import { processSingleton } from "@/lib/process-singleton";
import { type Client, circlesOf } from "@/lib/rate-limit/client";
import { consumeLimit } from "@/lib/rate-limit/rate-limit";
import { TimeoutError, withTimeout } from "@/lib/runtime/timeout";

/*
 * Every call to Clerk that a request causes goes through here, because anyone can send requests, and Clerk limits and
 * bills our calls. The bounds: `rateLimits.clerkCalls`, `turnBounds.clerkCalls` and a timeout.
 * After a timeout, calls fail at once for a few seconds.
 */
const pauseMs = 5000; // 5 seconds

/** Clerk was not called: a limit is reached, or it timed out a moment ago. */
export class ClerkCallLimitError extends Error {}

/** Calls Clerk for a request. Throws a {@link ClerkCallLimitError}, a `TimeoutError`, or the call's own error. */
export async function callClerk<T>(client: Client, call: () => Promise<T>): Promise<T> {
  const clerk = processSingleton("calls to Clerk", () => ({ unavailableUntilMs: 0 }));
  if (performance.now() < clerk.unavailableUntilMs) throw new ClerkCallLimitError("Clerk does not answer");
  const circles = circlesOf(client);
  try {
    return await turnsOf("clerkCalls").run(circles, goesOn, async () => {
      if (await consumeLimit("clerk", rateLimits.clerkCalls, circles))
        throw new ClerkCallLimitError("Clerk was asked enough");
      return withTimeout(answersWithinMs.clerk, call());
    });
  } catch (failure) {
    if (failure instanceof ApiError && failure.reason === "overloaded")
      throw new ClerkCallLimitError("Clerk has enough to do");
    if (failure instanceof TimeoutError) clerk.unavailableUntilMs = performance.now() + pauseMs;
    throw failure;
  }
}

/** Other requests wait for the answer too, so no one's leaving ends a call. */
const goesOn = new AbortController().signal;
