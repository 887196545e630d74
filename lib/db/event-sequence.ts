import { sql } from "kysely";
import type { Db } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";

/*
 * Logical replication, by which a database moves to another server or major while it is used, brings rows, and not how far its
 * sequences are (https://www.postgresql.org/docs/17/logical-replication-restrictions.html; 2ndQuadrant/pglogical#136). Each new
 * event would then get the number of another one, and no account could be changed.
 */

const sequence = sql`pg_get_serial_sequence('events', 'seq')`;
const last = sql`(SELECT max(seq) FROM events)`;

/** Whether the sequence of PostgreSQL's events is behind their table. */
export async function isSequenceBehind(db: Db): Promise<boolean> {
  const reached = sql`coalesce(pg_sequence_last_value(${sequence}::regclass), 0)`;
  const { rows } = await sql<{ is: boolean | null }>`SELECT ${last} > ${reached} AS is`.execute(db);
  return rows[0]?.is === true;
}

/** Raises the sequence to what the table has, if it is behind. A role that may not is told by `check` who may. */
export async function raiseSequence(db: Db): Promise<void> {
  try {
    if (!(await isSequenceBehind(db))) return;
    // Another instance that starts may have raised it since.
    await sql`SELECT setval(${sequence}, greatest(${last}, nextval(${sequence})))`.execute(db);
    log().warn(
      "the sequence of events was behind its table, as logical replication leaves it, and was raised",
    );
  } catch (failure) {
    log().warn({ err: failure }, "it is not known that the sequence of events is as far as its table");
  }
}
