import { mailLowCredits } from "@/lib/accounts/credits/credit-watch";
import { closeExpiredHolds, lockAccounts } from "@/lib/accounts/credits/ledger";
import {
  type AccountState,
  type CreditWrite,
  type EntryRow,
  type HoldRow,
  LedgerDraft,
  type Outcome,
} from "@/lib/backend/credit-rules";
import { readStates, storeDraft } from "@/lib/backend/draft-rows";
import { type KeptWrite, keepAnswers, keyOf, type RequestIdentity } from "@/lib/backend/kept-answers";
import { Refusal } from "@/lib/backend/refusals";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { parseLists } from "@/lib/db/read-in-one-query";
import { listOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";

/** A request that writes, with the key that makes its repetition harmless. */
export type WriteRequest = RequestIdentity & {
  writes: readonly CreditWrite[];
  /**
   * Reads what else decides whether it may be written: in its transaction, at an instant at which the accounts are locked.
   * Throws an {@link ApiError} to refuse.
   */
  decide?: (transaction: Db, nowMs: number) => Promise<void>;
  /**
   * Makes the answer of what came of each write. The answer is stored, so a repetition gets the same bytes. If it throws,
   * nothing of the request is written.
   */
  answer: (outcomes: readonly (Outcome | Refusal)[]) => string;
};

/** The answer to a request, or why it was refused: then nothing of it was written, and its key can be used again. */
export type WriteResult = { answer: string } | { refusal: Error };

/**
 * Executes requests one after the other, in the caller's transaction: each is answered by its own result. The locks of the
 * accounts and of the keys are kept until the end of the transaction, so of two requests with one key the second waits for
 * the first.
 *
 * @param now - the clock, which is read once nothing has to be waited for any more
 */
export async function executeWrites(
  transaction: Db,
  requests: readonly WriteRequest[],
  now: () => number,
): Promise<WriteResult[]> {
  const { draft, kept, nowMs } = await lockDraft(transaction, requests, now);
  const keptOf = ({ backend, keyHash }: WriteRequest) => kept.get(keyOf(backend, keyHash));
  const denials = await Promise.all(
    requests.map((request) => (keptOf(request) ? undefined : readDenial(transaction, request, nowMs))),
  );
  const written: KeptWrite[] = [];
  const results = requests.map((request, at): WriteResult => {
    const known = keptOf(request);
    if (known) return known.body_digest === request.digest ? known : { refusal: new Refusal("key_reused") };
    const denial = denials[at];
    if (denial) return { refusal: denial };
    try {
      const answer = draft.attempt(() =>
        request.answer(request.writes.map((write) => outcomeOf(draft, request, write))),
      );
      const row = toKept(request, draft, answer, nowMs);
      kept.set(keyOf(request.backend, request.keyHash), row);
      written.push(row);
      return { answer };
    } catch (refusal) {
      return { refusal: refusal as Error };
    }
  });
  draft.buyForLacking();
  await storeDraft(transaction, draft);
  for (const { account, left } of draft.fallen) {
    const low = { accountId: account.id, below: account.mail_below_thousandths, left };
    await mailLowCredits(transaction, low, nowMs);
  }
  await keepAnswers(transaction, written);
  return results;
}

async function readDenial(
  transaction: Db,
  { decide }: WriteRequest,
  nowMs: number,
): Promise<ApiError | undefined> {
  try {
    await decide?.(transaction, nowMs);
  } catch (failure) {
    if (failure instanceof ApiError) return failure;
    throw failure;
  }
}

function outcomeOf(draft: LedgerDraft, { backend }: WriteRequest, write: CreditWrite): Outcome | Refusal {
  try {
    return draft.write(backend, write);
  } catch (failure) {
    if (failure instanceof Refusal) return failure;
    throw failure;
  }
}

function toKept(request: WriteRequest, draft: LedgerDraft, answer: string, nowMs: number): KeptWrite {
  const accounts = new Set(request.writes.map((write) => accountOf(write, draft)));
  const [only = null] = accounts.size === 1 ? accounts : [];
  return {
    backend_id: request.backend,
    key_hash: request.keyHash,
    account_id: only,
    body_digest: request.digest,
    answer,
    written_at_ms: nowMs,
  };
}

function accountOf(write: CreditWrite, { holds, entries, accounts }: LedgerDraft): string | null {
  if ("account" in write) return accounts.has(write.account) ? write.account : null;
  const row = "hold" in write ? holds.get(write.hold) : entries.get(write.entry);
  return row?.account_id ?? null;
}

/** Locks what the requests concern, then reads it, and what was answered to their keys before. */
async function lockDraft(transaction: Db, requests: readonly WriteRequest[], now: () => number) {
  const writes = requests.flatMap(({ writes }) => writes);
  const holdIds = writes.flatMap((write) => ("hold" in write ? [write.hold] : []));
  const entryIds = writes.flatMap((write) => ("entry" in write ? [write.entry] : []));
  const holds = transaction.selectFrom("holds").where("id", "in", listOf(transaction, holdIds));
  const entries = transaction.selectFrom("credit_entries").where("id", "in", listOf(transaction, entryIds));
  const owners = [
    ...(holdIds.length > 0 ? await holds.select("account_id").execute() : []),
    ...(entryIds.length > 0 ? await entries.select("account_id").execute() : []),
  ];
  const named = writes.flatMap((write) => ("account" in write ? [write.account] : []));
  const accountIds = [...new Set([...named, ...owners.map(({ account_id }) => account_id)])];
  const { rows: locked } = await lockAccounts(transaction, accountIds);
  // A lock is written, and so waits at the commit for the synchronous standby: a primary that has lost it refuses nothing.
  if (locked.length === 0)
    await lockBackends(
      transaction,
      requests.map(({ backend }) => backend),
    );
  const nowMs = now();
  await closeExpiredHolds(transaction, locked, nowMs);
  // Once all locks are held, so that it is what the last writer left.
  const keys = requests.map(({ backend, keyHash }) => ({ backend, keyHash }));
  const rows = parseLists(await readStates(transaction, accountIds, holdIds, entryIds, keys));
  const byId = <Row extends { id: string }>(rows: Row[]) => new Map(rows.map((row) => [row.id, row]));
  const draft = new LedgerDraft(
    byId<AccountState>(rows.accounts),
    byId<HoldRow>(rows.holds),
    byId<EntryRow>(rows.entries),
    nowMs,
  );
  const kept = new Map(
    rows.kept.map((row): [string, KeptWrite] => [keyOf(row.backend_id, row.key_hash), row]),
  );
  return { draft, kept, nowMs };
}

const lockBackends = frequentStatement((db, ids: readonly string[]) =>
  db.selectFrom("backends").select("id").where("id", "in", listOf(db, ids)).orderBy("id").forShare(),
);
