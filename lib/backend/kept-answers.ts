import { Refusal } from "@/lib/backend/refusals";
import { frequentStatement } from "@/lib/db/frequent-statement";
import { rowsOf, typesOf } from "@/lib/db/row-list";
import type { Db } from "@/lib/db/store";
import type { Tables } from "@/lib/db/tables";

/* The answers to requests that wrote, by their keys: a repetition gets the same one. */

/** What a request is told from others by. */
export type RequestIdentity = {
  backend: string;
  /** The hash of its `Idempotency-Key`, which may contain anything. */
  keyHash: string;
  /** The digest of what it asks for. */
  digest: string;
};

export type KeptWrite = Tables["backend_writes"];

export const keyOf = (backend: string, keyHash: string) => `${backend} ${keyHash}`;

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

const keptTypes = typesOf("backend_writes");
const keptColumns = Object.keys(keptTypes) as (keyof KeptWrite)[];

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
