import { executeWrites, type WriteRequest, type WriteResult } from "@/lib/backend/credit-writes";
import { WriteQueue } from "@/lib/backend/write-queue";
import { answersWithinMs, maxWaitingWrites } from "@/lib/config/limits";
import { ledgerTransaction } from "@/lib/db/ledger-transaction";
import type { Db } from "@/lib/db/store";
import { StoreOutage } from "@/lib/db/store-outage";
import { tooManyRequests } from "@/lib/http/errors";

type Waiting = {
  request: WriteRequest;
  now: () => number;
  sinceMs: number;
  resolve: (result: WriteResult) => void;
  reject: (failure: unknown) => void;
};

const groups = new WeakMap<Db, { queue: WriteQueue<Waiting>; isRunning: boolean }>();

/**
 * Executes a request of a backend. Requests that come while a transaction is under way share the next one, and its wait for
 * the disk: an account that all write to is locked once for all of them. Throws an {@link ApiError} that refuses it or, if
 * the store is away, a {@link StoreOutage}: then the request may have been executed, and its repetition finds out.
 *
 * @param now - the clock
 * @returns the answer, a repeated one byte for byte
 */
export async function writeCredits(
  db: Db,
  request: WriteRequest,
  now: () => number = Date.now,
): Promise<string> {
  const group = groups.get(db) ?? { queue: new WriteQueue<Waiting>(maxWaitingWrites), isRunning: false };
  groups.set(db, group);
  const { promise, resolve, reject } = Promise.withResolvers<WriteResult>();
  const waiting = { request, now, sinceMs: performance.now(), resolve, reject };
  if (!group.queue.add(request.backend, request.writes.length, waiting))
    throw tooManyRequests(1, "Too many writes of this backend are waiting.");
  if (!group.isRunning) void executeAll(db, group);
  const result = await promise;
  if ("refusal" in result) throw result.refusal;
  return result.answer;
}

async function executeAll(db: Db, group: { queue: WriteQueue<Waiting>; isRunning: boolean }): Promise<void> {
  group.isRunning = true;
  while (group.queue.writes > 0) await execute(db, () => group.queue.take().filter(isInTime));
  group.isRunning = false;
}

/** Refuses what has waited for as long as a query may take: while the store is away, the queue would wait for each group. */
function isInTime({ sinceMs, reject }: Waiting): boolean {
  const isLate = performance.now() >= sinceMs + answersWithinMs.store;
  if (isLate) reject(new StoreOutage(new Error("the writes before this one took too long")));
  return !isLate;
}

/** @param take - takes the requests, once the transaction has begun: until then others join them */
async function execute(db: Db, take: () => Waiting[]): Promise<void> {
  let taken: Waiting[] | undefined;
  try {
    const results = await ledgerTransaction(db, (transaction) => {
      taken ??= take();
      const requests = taken.map(({ request }) => request);
      const clocks = taken.map(({ now }) => now);
      return executeWrites(transaction, requests, () => Math.max(...clocks.map((now) => now())));
    });
    for (const [at, { resolve }] of (taken ?? []).entries()) resolve(results[at] as WriteResult);
  } catch (failure) {
    taken ??= take();
    // One request that the store cannot take must not fail the others.
    const isOnes = taken.length > 1 && !(failure instanceof StoreOutage);
    if (isOnes) for (const one of taken) await execute(db, () => [one]);
    else for (const { reject } of taken) reject(failure);
  }
}
