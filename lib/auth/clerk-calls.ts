import { processSingleton } from "@/lib/process-singleton";
import { knownClientKey } from "@/lib/rate-limit/client-address";
import { counter } from "@/lib/rate-limit/rate-limit";
import { TimeoutError, withTimeout } from "@/lib/runtime/timeout";

/*
 * Every call to Clerk that a request causes goes through here, because strangers send requests and Clerk counts,
 * bounds and bills ours: an allowance for each address, a ceiling for all together, so many at once, and a deadline.
 * Once Clerk has missed it, nobody waits for it again for a while.
 */
const maxOfOneAddress = 30;
const maxOfAll = 600;
const windowSeconds = 60;
const maxAtOnce = 20;
const queryTimeoutMs = 2000; // 2 seconds: its client has none of its own
const pauseMs = 5000; // 5 seconds

/** Clerk was not asked: too much was asked of it lately, or it does not answer at the moment. */
export class ClerkCallLimitError extends Error {}

/** Asks Clerk on behalf of a request. Throws a {@link ClerkCallLimitError}, a `TimeoutError`, or what the call throws. */
export async function callClerk<T>(headers: Headers, call: () => Promise<T>): Promise<T> {
  const calls = processSingleton("calls to Clerk", () => ({ underWay: 0, awayUntilMs: 0 }));
  if (performance.now() < calls.awayUntilMs) throw new ClerkCallLimitError("Clerk does not answer");
  if (calls.underWay >= maxAtOnce) throw new ClerkCallLimitError("Clerk has enough to do");
  calls.underWay++;
  try {
    if (!(await isAllowed(headers))) throw new ClerkCallLimitError("Clerk was asked enough");
    return await withTimeout(queryTimeoutMs, call());
  } catch (failure) {
    if (failure instanceof TimeoutError) calls.awayUntilMs = performance.now() + pauseMs;
    throw failure;
  } finally {
    calls.underWay--;
  }
}

async function isAllowed(headers: Headers): Promise<boolean> {
  const nowMs = performance.now();
  const client = knownClientKey(headers);
  const ofOne = counter("clerk-address", maxOfOneAddress, { windowSeconds });
  if (client && !(await ofOne.consume(client, nowMs)).allowed) return false;
  return (await counter("clerk", maxOfAll, { windowSeconds }).consume("all", nowMs)).allowed;
}
