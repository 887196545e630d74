import type { ExpressionBuilder } from "kysely";
import { limitColumns, mailLowCredits } from "@/lib/accounts/credit-watch";
import { closeExpiredHolds, lockAccounts } from "@/lib/accounts/ledger";
import {
  type AccountState,
  type CreditWrite,
  type EntryRow,
  type HoldRow,
  LedgerDraft,
  type Outcome,
} from "@/lib/backend/ledger-draft";
import { Refusal } from "@/lib/backend/refusals";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { parseLists, selectLists } from "@/lib/db/read-in-one-query";
import { listOf, rowsOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";
import { ApiError } from "@/lib/http/errors";

/** A request that writes, with the key that makes its repetition harmless. */
export type WriteRequest = {
  backend: string;
  /** Of its `Idempotency-Key`, which may contain anything. */
  keyHash: string;
  /** Of what it asks for. */
  digest: string;
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

/** What tells a request from others. */
export type RequestIdentity = Pick<WriteRequest, "backend" | "keyHash" | "digest">;

/** The answer to a request, or why it was refused: then nothing of it was written, and its key can be used again. */
export type WriteResult = { answer: string } | { refusal: Error };

type KeptWrite = Tables["backend_writes"];

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
  await storeDraft(transaction, draft);
  for (const { account, left } of draft.fallen)
    await mailLowCredits(transaction, { ...account, account_id: account.id }, left, nowMs);
  await keepAnswers(transaction, written);
  return results;
}

/** The first answer to a request that was executed before. Throws a {@link Refusal} if its key was another's. */
export async function findAnswer(
  db: Db,
  { backend, keyHash, digest }: RequestIdentity,
): Promise<string | undefined> {
  const known = await db
    .selectFrom("backend_writes")
    .select(["body_digest", "answer"])
    .where("backend_id", "=", backend)
    .where("key_hash", "=", keyHash)
    .executeTakeFirst();
  if (known && known.body_digest !== digest) throw new Refusal("key_reused");
  return known?.answer;
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

const keyOf = (backend: string, keyHash: string) => `${backend} ${keyHash}`;

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
  const locked = await lockAccounts(transaction, accountIds);
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

const keyTypes = { backend: "text", keyHash: "text" } as const;
const accountTypes = {
  id: "text",
  credit_thousandths: "bigint",
  held_thousandths: "bigint",
  last_at_ms: "bigint",
  last_place: "bigint",
  monthly_thousandths: "bigint",
  month_ms: "bigint",
  spent_thousandths: "bigint",
  mail_below_thousandths: "bigint",
  low_since_ms: "bigint",
  top_up_below_thousandths: "bigint",
  top_up_due_ms: "bigint",
} as const satisfies Record<keyof AccountState, "text" | "bigint">;
const entryTypes = {
  id: "text",
  account_id: "text",
  thousandths: "bigint",
  reason: "text",
  created_at_ms: "bigint",
  place: "bigint",
  backend_id: "text",
  reference: "text",
  hold_id: "text",
  reverses: "text",
  reversed_thousandths: "bigint",
  number: "bigint",
} as const satisfies Record<keyof EntryRow, "text" | "bigint">;
const holdTypes = {
  id: "text",
  account_id: "text",
  backend_id: "text",
  thousandths: "bigint",
  reason: "text",
  reference: "text",
  created_at_ms: "bigint",
  expires_at_ms: "bigint",
  closed_as: "text",
  closed_at_ms: "bigint",
  entry_id: "text",
} as const satisfies Record<keyof HoldRow, "text" | "bigint">;
const keptTypes = {
  backend_id: "text",
  key_hash: "text",
  account_id: "text",
  body_digest: "text",
  answer: "text",
  written_at_ms: "bigint",
} as const satisfies Record<keyof KeptWrite, "text" | "bigint">;

const namesOf = <Types extends object>(types: Types) => Object.keys(types) as (keyof Types & string)[];
const entryColumns = namesOf(entryTypes);
const holdColumns = namesOf(holdTypes);
const keptColumns = namesOf(keptTypes);

const readStates = frequentStatement(
  (
    db,
    accountIds: readonly string[],
    holdIds: readonly string[],
    entryIds: readonly string[],
    keys: readonly Record<keyof typeof keyTypes, string>[],
  ) => {
    const last = ({ selectFrom }: ExpressionBuilder<Tables, "accounts">, column: "created_at_ms" | "place") =>
      selectFrom("credit_entries")
        .select(column)
        .whereRef("account_id", "=", "accounts.id")
        .orderBy("created_at_ms", "desc")
        .orderBy("place", "desc")
        .limit(1);
    return selectLists(db, {
      accounts: db
        .selectFrom("accounts")
        .leftJoin("credit_limits", "credit_limits.account_id", "accounts.id")
        .select(["id", "credit_thousandths", "held_thousandths", ...limitColumns])
        .select((eb) => [last(eb, "created_at_ms").as("last_at_ms"), last(eb, "place").as("last_place")])
        .where("id", "in", listOf(db, accountIds)),
      holds: db.selectFrom("holds").select(holdColumns).where("id", "in", listOf(db, holdIds)),
      entries: db.selectFrom("credit_entries").select(entryColumns).where("id", "in", listOf(db, entryIds)),
      kept: db
        .selectFrom(rowsOf(db, keys, keyTypes))
        .innerJoin("backend_writes as kept", (join) =>
          join.onRef("kept.backend_id", "=", "rows.backend").onRef("kept.key_hash", "=", "rows.keyHash"),
        )
        .select(["kept.backend_id", "kept.key_hash", "kept.body_digest", "kept.answer"])
        .select(["kept.account_id", "kept.written_at_ms"]),
    });
  },
);

/** Stores what has changed, in one statement a table. */
async function storeDraft(transaction: Db, draft: LedgerDraft): Promise<void> {
  const changed = [...draft.changed];
  const accounts = changed.filter((row): row is AccountState => draft.accounts.has(row.id));
  const holds = changed.filter((row): row is HoldRow => draft.holds.has(row.id));
  const entries = changed.filter((row): row is EntryRow => draft.entries.has(row.id));
  const limited = accounts.filter(({ month_ms }) => month_ms !== null);
  if (limited.length > 0) await updateLimits(transaction, limited);
  if (accounts.length > 0) await updateAccounts(transaction, accounts);
  if (entries.length > 0) await updateEntries(transaction, entries);
  if (holds.length > 0) await updateHolds(transaction, holds);
  if (draft.newEntries.length > 0) await insertEntries(transaction, draft.newEntries);
  if (draft.newHolds.length > 0) await insertHolds(transaction, draft.newHolds);
}

const updateLimits = frequentStatement((db, rows: readonly AccountState[]) =>
  db
    .updateTable("credit_limits")
    .from(rowsOf(db, rows, accountTypes))
    .set(({ ref }) => ({
      month_ms: ref("rows.month_ms").$notNull(),
      spent_thousandths: ref("rows.spent_thousandths").$notNull(),
      low_since_ms: ref("rows.low_since_ms"),
      top_up_due_ms: ref("rows.top_up_due_ms"),
    }))
    .whereRef("credit_limits.account_id", "=", "rows.id"),
);
const updateAccounts = frequentStatement((db, rows: readonly AccountState[]) =>
  db
    .updateTable("accounts")
    .from(rowsOf(db, rows, accountTypes))
    .set(({ ref }) => ({
      credit_thousandths: ref("rows.credit_thousandths"),
      held_thousandths: ref("rows.held_thousandths"),
    }))
    .whereRef("accounts.id", "=", "rows.id"),
);
const updateEntries = frequentStatement((db, rows: readonly EntryRow[]) =>
  db
    .updateTable("credit_entries")
    .from(rowsOf(db, rows, entryTypes))
    .set(({ ref }) => ({ reversed_thousandths: ref("rows.reversed_thousandths") }))
    .whereRef("credit_entries.id", "=", "rows.id"),
);
const updateHolds = frequentStatement((db, rows: readonly HoldRow[]) =>
  db
    .updateTable("holds")
    .from(rowsOf(db, rows, holdTypes))
    .set(({ ref }) => ({
      closed_as: ref("rows.closed_as"),
      closed_at_ms: ref("rows.closed_at_ms"),
      entry_id: ref("rows.entry_id"),
    }))
    .whereRef("holds.id", "=", "rows.id"),
);
const insertEntries = frequentStatement((db, rows: readonly EntryRow[]) =>
  db
    .insertInto("credit_entries")
    .columns(entryColumns)
    .expression(db.selectFrom(rowsOf(db, rows, entryTypes)).select(entryColumns)),
);
const insertHolds = frequentStatement((db, rows: readonly HoldRow[]) =>
  db
    .insertInto("holds")
    .columns(holdColumns)
    .expression(db.selectFrom(rowsOf(db, rows, holdTypes)).select(holdColumns)),
);
const insertAnswers = frequentStatement((db, rows: readonly KeptWrite[]) =>
  db
    .insertInto("backend_writes")
    .columns(keptColumns)
    .expression(
      db
        .selectFrom(rowsOf(db, rows, keptTypes))
        .select(keptColumns)
        .orderBy("key_hash")
        .where((eb) => eb.lit(true)),
    )
    .onConflict((conflict) => conflict.doNothing()),
);

/** Stores the answers. Throws what makes the transaction run again if one of the keys is taken: it has an answer then. */
export async function keepAnswers(transaction: Db, written: readonly KeptWrite[]): Promise<void> {
  if (written.length === 0) return;
  const { numAffectedRows } = await insertAnswers(transaction, written);
  if (Number(numAffectedRows) === written.length) return;
  throw Object.assign(new Error("an Idempotency-Key was used at the same time"), { code: "40001" });
}
