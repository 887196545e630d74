import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { besideDatabaseUrl, createDatabase, startPostgres } from "@/tests/support/databases";
import { createFolder } from "@/tests/support/leash";
import type { Environment } from "@/tests/support/service";

export type Rows = Record<string, unknown>[];

/** A store that is changed without the service. `change` begins a transaction and returns its commit. */
export type OpenStore = {
  environment: Environment;
  query: (sql: string) => Promise<Rows>;
  change: (sql: string) => Promise<() => Promise<void>>;
};

/** Opens the embedded store in a data folder. */
export function openEmbedded(dataDir: string) {
  const open = () => {
    const db = new DatabaseSync(join(dataDir, "store.sqlite"), { timeout: 5000 });
    db.exec("PRAGMA secure_delete = ON"); // as the service does: overwritten text stays in no page
    return db;
  };
  let holder: DatabaseSync | undefined;
  return {
    environment: { DATA_DIR: dataDir, SIGN_IN: "local" } as Environment,
    async query(sql: string): Promise<Rows> {
      const db = open();
      const rows = db.prepare(sql).all();
      db.close();
      return rows;
    },
    async queryAll(sql: string[]): Promise<Rows[]> {
      const db = open();
      const all = sql.map((each) => db.prepare(each).all());
      db.close();
      return all;
    },
    /** Begins a transaction that stays open. */
    begin(statement = "BEGIN IMMEDIATE") {
      holder = open();
      holder.exec(statement);
    },
    rollBack() {
      holder?.exec("ROLLBACK");
      holder?.close();
    },
    async change(sql: string) {
      const db = open();
      db.exec(`BEGIN IMMEDIATE; ${sql}`);
      return async () => {
        db.exec("COMMIT");
        db.close();
      };
    },
  };
}

/**
 * Opens a database of PostgreSQL.
 *
 * @param reachedAt - where the service reaches it
 */
export function openPostgres(databaseUrl: string, reachedAt = databaseUrl) {
  const direct = new pg.Pool({ connectionString: databaseUrl, idleTimeoutMillis: 0 });
  return {
    environment: { ...besideDatabaseUrl, DATABASE_URL: reachedAt, SIGN_IN: "local" } as Environment,
    query: async (sql: string): Promise<Rows> => (await direct.query(sql)).rows,
    queryAll: (sql: string[]): Promise<Rows[]> =>
      Promise.all(sql.map(async (each) => (await direct.query(each)).rows)),
    async change(sql: string) {
      const client = await direct.connect();
      await client.query(`BEGIN; ${sql}`);
      return async () => {
        await client.query("COMMIT");
        client.release();
      };
    },
    close: () => direct.end(),
  };
}

/** Makes a PostgreSQL read-only, as managed services do when a disk is full, or writable again. */
export async function setReadOnly(query: OpenStore["query"], isReadOnly: boolean): Promise<void> {
  const setting = "default_transaction_read_only";
  await query(`ALTER SYSTEM ${isReadOnly ? `SET ${setting} = on` : `RESET ${setting}`}`);
  await query("SELECT pg_reload_conf()");
}

/** The names of every table of a store. */
export async function listTables({ environment, query }: OpenStore): Promise<string[]> {
  const rows = await query(
    environment.DATABASE_URL
      ? "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
      : "SELECT name FROM sqlite_master WHERE type = 'table'",
  );
  return rows.map(({ name }) => String(name));
}

export const engineNames = ["embedded", "postgres"] as const;
export type EngineName = (typeof engineNames)[number];

let server: ReturnType<typeof startPostgres> | undefined;

/** Makes a store of an engine for a program that is no test: it is empty until a service starts. */
export async function createStore(engine: EngineName): Promise<OpenStore> {
  if (engine === "embedded") return openEmbedded(createFolder());
  server ??= startPostgres();
  const postgres = await server;
  if (!postgres) throw new Error("PostgreSQL is not installed");
  return openPostgres(await createDatabase(postgres.url));
}

/** A value of a row in SQL. */
export function quote(value: unknown): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
