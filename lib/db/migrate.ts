import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { Migration } from "kysely/migration";
import type pg from "pg";
import {
  beforeRelease,
  executeAll,
  firstMigration,
  type IndexChange,
  type SchemaChange,
} from "@/lib/db/migrations";
import { StoreOutage } from "@/lib/db/store-outage";
import { repeatConflicts } from "@/lib/db/transaction";
import { log } from "@/lib/runtime/log";

/*
 * Applied migrations are recorded in the table of Kysely's own migrator. Ours differs in three ways, for upgrades of
 * several instances: it locks only if a migration is pending, and a row, so that the lock ends with its transaction and
 * works through a pooler and on engines without advisory locks; it ignores migrations of a newer build, so that a build can
 * be rolled back; and it creates indexes while their table is in use.
 */
export type MigrationDb = Kysely<{ kysely_migration: { name: string; timestamp: string } }>;

/** The code of the error for a store of a build before the first release. */
export const oldStore = "OLD_STORE";

const lockName = "migration lock"; // a row that is no migration, which every build ignores
const tableLockTimeout = "1s"; // if longer, queries that queue behind us would miss their deadline
const maxTries = 60; // for a table lock: 90 seconds
const retryDelayMs = 500;

/**
 * Migrates an embedded store; returns the names of the migrations that it applied. A write transaction locks the whole
 * store, so no other lock is needed, and one for all of them waits for the disk once.
 */
export async function migrateEmbedded(
  store: MigrationDb,
  changes: Record<string, SchemaChange>,
): Promise<string[]> {
  return store.transaction().execute(async (transaction) => {
    await makeTable(transaction);
    const pending = await findPending(transaction, changes);
    for (const name of pending) {
      await apply(transaction, changes[name] as SchemaChange, "");
      await record(transaction, name);
    }
    return pending;
  });
}

/**
 * Migrates a PostgreSQL database; returns the names of the migrations that it applied. It uses its own connections,
 * which have no query deadline. Any number of instances may call it at once.
 */
export async function migratePostgres(url: string, changes: Record<string, SchemaChange>): Promise<string[]> {
  const { openUnlimitedPool } = await import("@/lib/db/postgres/hosts");
  const pool = await openUnlimitedPool(url);
  const store: MigrationDb = new Kysely({ dialect: new PostgresDialect({ pool }) });
  try {
    const pending = await findPending(store, changes);
    if (pending.length > 0) await makeLock(store);
    const applied: string[] = [];
    for (const name of pending) {
      if (await applyOnPostgres(store, name, changes[name] as SchemaChange)) applied.push(name);
    }
    return applied;
  } finally {
    await store.destroy();
  }
}

/**
 * The names of the pending migrations, in order. A store of the last build before the first release has what the first
 * migration makes. Throws a {@link StoreOutage} for one of an earlier build, which is not changed.
 */
export async function findPending(
  store: MigrationDb,
  changes: Record<string, SchemaChange>,
): Promise<string[]> {
  // Without a parameter: one would keep a snapshot, for which creating an index concurrently would wait for ever.
  const recorded = await store
    .selectFrom("kysely_migration")
    .select("name")
    .execute()
    .catch((failure) => {
      if (failure.code === "42P01" || failure.message.includes("no such table")) return []; // undefined_table
      throw failure;
    });
  const names = new Set(recorded.map(({ name }) => name));
  const { until, count, commit } = beforeRelease;
  const before = recorded.filter(({ name }) => name < until).length;
  if (before > 0 && before < count) {
    const message = `This store is of a build before ${commit}. Run 'migrate' of that commit on it, and then this build. It was left as it is.`;
    throw new StoreOutage(Object.assign(new Error(message), { code: oldStore }));
  }
  if (before > 0) names.add(firstMigration);
  return Object.keys(changes).filter((name) => !names.has(name));
}

/** Retries while another instance migrates, or while a table that will change is in use. */
async function applyOnPostgres(store: MigrationDb, name: string, change: SchemaChange): Promise<boolean> {
  let tries = 0;
  for (;;) {
    try {
      const outcome = await repeatConflicts(() =>
        store
          .transaction()
          // A stricter level keeps its first snapshot, for which creating an index concurrently would wait.
          .setIsolationLevel("read committed")
          .execute((transaction) => tryApply(store, transaction, name, change)),
      );
      if (outcome !== "locked") return outcome === "applied";
    } catch (failure) {
      tries++;
      if ((failure as pg.DatabaseError).code !== "55P03" || tries === maxTries) throw failure; // lock_not_available
      log().info({ name, tries }, "a migration waits for a lock on a table");
    }
    await sleep(retryDelayMs);
  }
}

async function tryApply(
  store: MigrationDb,
  transaction: MigrationDb,
  name: string,
  change: SchemaChange,
): Promise<"locked" | "known" | "applied"> {
  await unlimit(transaction, "true");
  // Do not wait for the lock: creating an index concurrently waits for every running statement, including one that
  // waits here.
  const row = transaction.selectFrom("kysely_migration").select("name").where("name", "=", lockName);
  if (!(await row.forUpdate().skipLocked().executeTakeFirst())) return "locked";
  if ((await findPending(transaction, { [name]: change })).length === 0) return "known";
  await sql.raw(`set local lock_timeout = '${tableLockTimeout}'`).execute(transaction);
  // Indexes are made outside the transaction, which only holds the lock. PostgreSQL waits for transactions that have
  // written; this one has not.
  if (makesIndexes(change)) await store.connection().execute((own) => makeIndexes(own, change));
  else await apply(transaction, change, "concurrently");
  await record(transaction, name);
  return "applied";
}

async function makeIndexes(own: MigrationDb, change: IndexChange): Promise<void> {
  await unlimit(own, "false");
  await apply(own, change, "concurrently");
}

/** Lifts the limits of time that a role may have, of which some are of newer majors: for the transaction alone, or a connection. */
async function unlimit(db: MigrationDb, isLocal: "true" | "false"): Promise<void> {
  const named = "name ~ '^(statement|lock|transaction|idle_in_transaction_session)_timeout$'";
  await sql.raw(`select set_config(name, '0', ${isLocal}) from pg_settings where ${named}`).execute(db);
}

/** Makes the row that migrating instances lock. Of two that make its table at once, one fails and tries again. */
async function makeLock(store: MigrationDb): Promise<void> {
  await makeTable(store).catch(() => makeTable(store));
  const row = { name: lockName, timestamp: "" };
  const lock = store.insertInto("kysely_migration").values(row);
  await repeatConflicts(() => lock.onConflict((conflict) => conflict.doNothing()).execute());
}

async function makeTable(store: MigrationDb): Promise<void> {
  await store.schema
    .createTable("kysely_migration")
    .ifNotExists()
    .addColumn("name", "varchar(255)", (column) => column.primaryKey())
    .addColumn("timestamp", "varchar(255)", (column) => column.notNull())
    .execute();
}

async function record(transaction: MigrationDb, name: string): Promise<void> {
  const row = { name, timestamp: new Date().toISOString() };
  await transaction.insertInto("kysely_migration").values(row).execute();
}

async function apply(db: MigrationDb, change: SchemaChange, how: "concurrently" | ""): Promise<void> {
  if (makesIndexes(change)) await executeAll(db, toStatements(change, how));
  else await ("up" in change ? change.up(db) : executeAll(db, change));
}

const makesIndexes = (change: SchemaChange): change is IndexChange =>
  !Array.isArray(change) && typeof (change as Migration).up !== "function";

/** An index of an interrupted attempt is dropped and created again. */
function toStatements(indexes: IndexChange, how: "concurrently" | ""): string[] {
  return Object.entries(indexes).flatMap(([name, on]) => {
    const columns = typeof on === "string" ? on : on?.[how ? "postgres" : "embedded"];
    const drop = `drop index ${how} if exists ${name}`;
    return columns ? [drop, `create index ${how} ${name} on ${columns}`] : drop;
  });
}
