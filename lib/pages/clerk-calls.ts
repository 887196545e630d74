import { ownClientKey } from "@/lib/api/client-address";
import { counter } from "@/lib/api/rate-limit";
import { oncePerProcess } from "@/lib/once-per-process";
import { DeadlineError, within } from "@/lib/process/deadline";

/*
 * Every call to Clerk that a request causes goes through here, because strangers send requests and Clerk counts,
 * bounds and bills ours: an allowance for each address, a ceiling for all together, so many at once, and a deadline.
 * Once Clerk has missed it, nobody waits for it again for a while.
 */
const mostOfOneAddress = 30;
const mostOfAll = 600;
const windowSeconds = 60;
const mostAtOnce = 20;
const deadlineMs = 2000; // 2 seconds: its client has none of its own
const pauseMs = 5000; // 5 seconds

/** Clerk was not asked: too much was asked of it lately, or it does not answer at the moment. */
export class NotAskedError extends Error {}

/** Asks Clerk on behalf of a request. Throws a {@link NotAskedError}, a `DeadlineError`, or what the call throws. */
export async function callClerk<T>(headers: Headers, call: () => Promise<T>): Promise<T> {
  const calls = oncePerProcess("calls to Clerk", () => ({ underWay: 0, awayUntilMs: 0 }));
  if (performance.now() < calls.awayUntilMs) throw new NotAskedError("Clerk does not answer");
  if (calls.underWay >= mostAtOnce) throw new NotAskedError("Clerk has enough to do");
  calls.underWay++;
  try {
    if (!(await isAllowed(headers))) throw new NotAskedError("Clerk was asked enough");
    return await within(deadlineMs, call());
  } catch (failure) {
    if (failure instanceof DeadlineError) calls.awayUntilMs = performance.now() + pauseMs;
    throw failure;
  } finally {
    calls.underWay--;
  }
}

async function isAllowed(headers: Headers): Promise<boolean> {
  const nowMs = performance.now();
  const client = ownClientKey(headers);
  const ofOne = counter("clerk-address", mostOfOneAddress, { windowSeconds });
  if (client && !(await ofOne.spend(client, nowMs)).allowed) return false;
  return (await counter("clerk", mostOfAll, { windowSeconds }).spend("all", nowMs)).allowed;
}
