import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import type { IndexChange, SchemaChange } from "@/lib/db/migrations";
import { connectionTo } from "@/lib/db/postgres";
import { log } from "@/lib/runtime/log";

/*
 * Which changes a store's schema has had is in the table that Kysely's own migrator keeps. Ours differs in what an
 * upgrade of several instances needs: it takes a lock only where something is pending, and one that ends with its
 * transaction, so that a pooler may be in between; it leaves alone what a newer build has noted, so that a build can be
 * taken back; and it makes indexes while their table is written to.
 */
type MigrationTables = { kysely_migration: { name: string; timestamp: string } };

const lockKey = 0x0ff1ce; // any number, so long as all builds use the same
const tableLockWithin = "1s"; // longer, and whatever queues behind us would miss its deadline
const maxTries = 60; // for a lock on a table: a minute and a half
const tryAgainAfterMs = 500;

/** Brings an embedded store up to date; answers the names of the changes that it took. */
export function migrateEmbedded(
  store: Kysely<never>,
  changes: Record<string, SchemaChange>,
): Promise<string[]> {
  return takePending(store as unknown as Kysely<MigrationTables>, changes, takeChange);
}

/**
 * Brings a PostgreSQL up to date; answers the names of the changes that it took. It has connections of its own, which
 * no deadline cuts short. Any number of instances may do this at once.
 */
export async function migratePostgres(url: string, changes: Record<string, SchemaChange>): Promise<string[]> {
  const pool = new pg.Pool({ ...connectionTo(url), max: 2 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const store = new Kysely<MigrationTables>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await takePending(store, changes, takeChangeOnPostgres);
  } finally {
    await store.destroy();
  }
}

/** The names of the changes that a store has not had, in order. */
export async function findPending(
  store: Kysely<never>,
  changes: Record<string, SchemaChange>,
): Promise<string[]> {
  const noted = await (store as unknown as Kysely<MigrationTables>)
    .selectFrom("kysely_migration")
    .select("name")
    .execute()
    .catch((failure) => {
      if (isMissingTable(failure)) return [];
      throw failure;
    });
  const names = new Set(noted.map(({ name }) => name));
  return Object.keys(changes).filter((name) => !names.has(name));
}

function isMissingTable(failure: unknown): boolean {
  const { code, message } = failure as NodeJS.ErrnoException;
  return code === "42P01" || message.includes("no such table"); // undefined_table
}

type Take = (
  store: Kysely<MigrationTables>,
  name: string,
  auditedTransaction: SchemaChange,
) => Promise<boolean>;

async function takePending(
  store: Kysely<MigrationTables>,
  changes: Record<string, SchemaChange>,
  take: Take,
): Promise<string[]> {
  const taken: string[] = [];
  for (const name of await findPending(store as unknown as Kysely<never>, changes)) {
    const auditedTransaction = changes[name];
    if (auditedTransaction && (await take(store, name, auditedTransaction))) taken.push(name);
  }
  return taken;
}

/** A transaction that writes has an embedded store to itself. */
function takeChange(
  store: Kysely<MigrationTables>,
  name: string,
  auditedTransaction: SchemaChange,
): Promise<boolean> {
  return store.transaction().execute(async (transaction) => {
    if (await isNoted(transaction, name)) return false;
    if ("up" in auditedTransaction) await auditedTransaction.up(transaction);
    else
      for (const statement of statementsOf(auditedTransaction, ""))
        await sql.raw(statement).execute(transaction);
    await note(transaction, name);
    return true;
  });
}

/** Tries again while another instance is at it, and while somebody uses a table that is to change. */
async function takeChangeOnPostgres(
  store: Kysely<MigrationTables>,
  name: string,
  auditedTransaction: SchemaChange,
): Promise<boolean> {
  let tries = 0;
  for (;;) {
    try {
      const outcome = await store
        .transaction()
        .execute((transaction) => tryChange(store, transaction, name, auditedTransaction));
      if (outcome !== "locked") return outcome === "taken";
    } catch (failure) {
      tries++;
      if ((failure as pg.DatabaseError).code !== "55P03" || tries === maxTries) throw failure; // lock_not_available
      log().info({ name, tries }, "a change of the store waits for whoever uses a table");
    }
    await sleep(tryAgainAfterMs);
  }
}

async function tryChange(
  store: Kysely<MigrationTables>,
  transaction: Kysely<MigrationTables>,
  name: string,
  auditedTransaction: SchemaChange,
): Promise<"locked" | "noted" | "taken"> {
  await sql`set local statement_timeout = 0`.execute(transaction);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
  // Asked for and not waited for: an index made concurrently waits for every statement that is under way.
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(lockKey)}) as is_ours`.execute(transaction);
  if (!rows[0]?.is_ours) return "locked";
  if (await isNoted(transaction, name)) return "noted";
  if ("up" in auditedTransaction) {
    await sql.raw(`set local lock_timeout = '${tableLockWithin}'`).execute(transaction);
    await auditedTransaction.up(transaction);
  } else {
    // Not in the transaction, which only keeps other instances out. It has written nothing yet: PostgreSQL waits for
    // all that have.
    for (const statement of statementsOf(auditedTransaction, "concurrently"))
      await sql.raw(statement).execute(store);
  }
  await note(transaction, name);
  return "taken";
}

async function isNoted(transaction: Kysely<MigrationTables>, name: string): Promise<boolean> {
  await transaction.schema
    .createTable("kysely_migration")
    .ifNotExists()
    .addColumn("name", "varchar(255)", (column) => column.primaryKey())
    .addColumn("timestamp", "varchar(255)", (column) => column.notNull())
    .execute();
  const noted = await transaction.selectFrom("kysely_migration").select("name").execute();
  return noted.some((row) => row.name === name);
}

async function note(transaction: Kysely<MigrationTables>, name: string): Promise<void> {
  const row = { name, timestamp: new Date().toISOString() };
  await transaction.insertInto("kysely_migration").values(row).execute();
}

/** What was begun before and broken off is made anew. */
function statementsOf({ makeIndexes, dropIndexes = [] }: IndexChange, how: "concurrently" | ""): string[] {
  const drop = (name: string) => `drop index ${how} if exists ${name}`;
  return [
    ...Object.entries(makeIndexes).flatMap(([name, on]) => [
      drop(name),
      `create index ${how} ${name} on ${on}`,
    ]),
    ...dropIndexes.map(drop),
  ];
}
