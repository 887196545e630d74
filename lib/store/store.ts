import { join } from "node:path";
import { Kysely, Migrator, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import pg from "pg";
import { log } from "@/lib/process/log";
import { oncePerProcess } from "@/lib/process/once-per-process";
import { type Settings, settings } from "@/lib/settings/settings";
import { migrations } from "@/lib/store/migrations";
import { sqliteDialect } from "@/lib/store/sqlite-dialect";
import type { Tables } from "@/lib/store/tables";

/** The database, or a transaction in it. */
export type Db = Kysely<Tables>;

/** A query that takes longer than this is an outage. */
export const deadlineMs = 2000; // 2 seconds
const connectWithinMs = 1500;

const processStore = () => oncePerProcess("store", () => new Store(settings()));

/** The process's database, migrated. Throws when it cannot be reached; the next call tries again. */
export function store(): Promise<Db> {
  return processStore().ready();
}

/** Closes the process's database. */
export async function closeStore(): Promise<void> {
  await processStore().close();
}

/** One of the two engines behind one set of queries. Nothing is opened before it is asked for. */
export class Store {
  private readonly db: Db;
  private migrated: Promise<Db> | undefined;

  constructor({ databaseUrl, dataDir }: Pick<Settings, "databaseUrl" | "dataDir">) {
    this.db = databaseUrl ? openPostgres(databaseUrl) : openEmbedded(dataDir);
  }

  ready(): Promise<Db> {
    this.migrated ??= this.migrate().catch((failure) => {
      this.migrated = undefined;
      throw failure;
    });
    return this.migrated;
  }

  close(): Promise<void> {
    return this.db.destroy();
  }

  private async migrate(): Promise<Db> {
    const migrator = new Migrator({ db: this.db, provider: { getMigrations: async () => migrations } });
    const { error } = await migrator.migrateToLatest();
    if (error) throw error;
    return this.db;
  }
}

function openEmbedded(dataDir: string): Db {
  return new Kysely<Tables>({ dialect: sqliteDialect(join(dataDir, "store.sqlite"), deadlineMs) });
}

function openPostgres(connectionString: string): Db {
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: deadlineMs,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  });
  // An idle connection that breaks would otherwise end the process.
  pool.on("error", (failure) =>
    log().warn({ code: (failure as NodeJS.ErrnoException).code }, "a store connection broke"),
  );
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withoutBrokenClients(pool) }) });
}

/**
 * Kysely gives a connection back whatever became of it. One whose query got no answer from the server
 * (a time-out, a break) still waits for that answer, so it must not serve the next query.
 */
function withoutBrokenClients(pool: pg.Pool): PostgresPool {
  return {
    async connect(): Promise<PostgresPoolClient> {
      const client = await pool.connect();
      let isBroken = false;
      const query = (sql: string, parameters: unknown[]) =>
        client.query(sql, parameters).catch((failure) => {
          isBroken ||= !(failure instanceof pg.DatabaseError);
          throw failure;
        });
      return { query, release: () => client.release(isBroken) } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}
