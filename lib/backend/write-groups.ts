import { executeWrites, type WriteRequest, type WriteResult } from "@/lib/backend/credit-writes";
import { maxWaitingWrites, maxWritesAtOnce } from "@/lib/config/limits";
import { ledgerTransaction } from "@/lib/db/ledger-transaction";
import type { Db } from "@/lib/db/store";
import { StoreOutage } from "@/lib/db/store-outage";

type Waiting = {
  request: WriteRequest;
  now: () => number;
  resolve: (result: WriteResult) => void;
  reject: (failure: unknown) => void;
};

const groups = new WeakMap<Db, { waiting: Waiting[]; isRunning: boolean }>();

/**
 * Executes a request of a backend. Requests that come while a transaction is under way share the next one, and its wait for
 * the disk: an account that all write to is locked once for all of them. Throws a {@link Refusal} or, if the store is away,
 * a {@link StoreOutage}: then the request may have been executed, and its repetition finds out.
 *
 * @param now - the clock
 * @returns the answer, a repeated one byte for byte
 */
export async function writeCredits(
  db: Db,
  request: WriteRequest,
  now: () => number = Date.now,
): Promise<string> {
  const group = groups.get(db) ?? { waiting: [], isRunning: false };
  groups.set(db, group);
  const count = group.waiting.reduce((sum, { request }) => sum + request.writes.length, 0);
  if (count >= maxWaitingWrites) throw new StoreOutage(new Error("too many writes are waiting"));
  const { promise, resolve, reject } = Promise.withResolvers<WriteResult>();
  group.waiting.push({ request, now, resolve, reject });
  if (!group.isRunning) executeAll(db, group);
  const result = await promise;
  if ("refusal" in result) throw result.refusal;
  return result.answer;
}

async function executeAll(db: Db, group: { waiting: Waiting[]; isRunning: boolean }): Promise<void> {
  group.isRunning = true;
  while (group.waiting.length > 0) await execute(db, takeGroup(group.waiting));
  group.isRunning = false;
}

/** The next requests, oldest first, with at most so many writes together. */
function takeGroup(waiting: Waiting[]): Waiting[] {
  let writes = 0;
  const end = waiting.findIndex(({ request }) => {
    writes += request.writes.length;
    return writes > maxWritesAtOnce;
  });
  return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
}

async function execute(db: Db, group: Waiting[]): Promise<void> {
  const requests = group.map(({ request }) => request);
  const now = () => Math.max(...group.map((one) => one.now()));
  try {
    const results = await ledgerTransaction(db, (transaction) => executeWrites(transaction, requests, now));
    for (const [at, { resolve }] of group.entries()) resolve(results[at] as WriteResult);
  } catch (failure) {
    // One request that the store cannot take must not fail the others.
    const isOnes = group.length > 1 && !(failure instanceof StoreOutage);
    if (isOnes) for (const one of group) await execute(db, [one]);
    else for (const { reject } of group) reject(failure);
  }
}
