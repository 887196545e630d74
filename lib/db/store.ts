import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely, type LogEvent, PostgresDialect } from "kysely";
import { answersWithinMs } from "@/lib/config/limits";
import { parsePostgresAddress } from "@/lib/config/postgres-address";
import { readVariable } from "@/lib/config/setting-files";
import { type Settings, settings } from "@/lib/config/settings";
import { rejectUnaudited } from "@/lib/db/audit";
import { findPending, type MigrationDb, migrateEmbedded, migratePostgres } from "@/lib/db/migrate";
import { migrations } from "@/lib/db/migrations";
import type { PostgresPool } from "@/lib/db/postgres/pool";
import { sqliteDialect } from "@/lib/db/sqlite/dialect";
import { boundLog, purgeDeleted } from "@/lib/db/sqlite/file";
import type { Tables } from "@/lib/db/tables";
import { perProcess } from "@/lib/per-process";
import { metrics } from "@/lib/runtime/metrics";
import { withTimeout } from "@/lib/runtime/timeout";
import { tracing } from "@/lib/runtime/tracing";

/** The database, or a transaction in it. */
export type Db = Kysely<Tables>;

/** The store of this process. */
export const processStore = perProcess("store", () => new Store(settings()));

/** The process's database, migrated. Throws if it cannot be reached; the next call retries. */
export const migratedStore = (): Promise<Db> => processStore().ready();

/** The same for a request, which waits only shortly for a migration or what it waits for. */
export function store(): Promise<Db> {
  const ready = migratedStore();
  return processStore().isReady ? ready : withTimeout(answersWithinMs.store, ready);
}

/** Closes the process's database. */
export const closeStore = async () => processStore().close();

/** The address that the file of `DATABASE_URL` has now, if there is one. */
function addressIn(file: string | undefined): string | undefined {
  const address = file && readVariable({ DATABASE_URL_FILE: file }, "DATABASE_URL", []);
  return address && parsePostgresAddress(address) ? address : undefined;
}

type StoreSettings = Pick<Settings, "dataDir"> &
  Partial<
    Pick<
      Settings,
      "databaseUrl" | "databaseUrlFile" | "databaseDirectUrl" | "databasePool" | "metricsPort" | "tracing"
    >
  >;

/** The store on either engine. It opens nothing until first use. */
export class Store {
  private connections: PostgresPool | undefined;
  private readonly db: Db;
  /** The file of the embedded store. */
  private readonly file: string | undefined;
  private migrated: Promise<Db> | undefined;
  isReady = false;

  constructor(
    private readonly settings: StoreSettings,
    private readonly changes = migrations,
  ) {
    const { databaseUrl, databaseDirectUrl = databaseUrl, databasePool = 10, dataDir } = settings;
    const isPooled = databaseDirectUrl !== databaseUrl;
    const options = { connections: databasePool, queryTimeoutMs: answersWithinMs.store, isPooled };
    const connect = async (url: string) => {
      // A tenth of a command's start, which the embedded store does not need.
      const { PostgresPool } = await import("@/lib/db/postgres/pool");
      this.connections = new PostgresPool(() => addressIn(settings.databaseUrlFile) ?? url, options);
      return this.connections;
    };
    const file = join(dataDir, "store.sqlite");
    if (!databaseUrl) this.file = file;
    const dialect = databaseUrl
      ? new PostgresDialect({ pool: () => connect(databaseUrl) })
      : sqliteDialect(file, answersWithinMs.store);
    // Without the setting, a store asks nothing of this process.
    const measured = settings.metricsPort === undefined ? undefined : metrics();
    const system = databaseUrl ? "postgresql" : "sqlite";
    const log = ({ level, query, queryDurationMillis }: LogEvent) => {
      const outcome = level === "query" ? "answered" : "failed";
      measured?.storeSeconds.observe({ outcome }, queryDurationMillis / 1000);
      tracing()?.recordQuery(system, query.sql, queryDurationMillis, level === "error");
    };
    const isWatched = measured || settings.tracing;
    this.db = new Kysely<Tables>({ dialect, plugins: [rejectUnaudited], ...(isWatched && { log }) });
  }

  ready(): Promise<Db> {
    this.migrated ??= this.migrate().then(
      () => {
        this.isReady = true;
        return this.db;
      },
      (failure) => {
        this.migrated = undefined;
        throw failure;
      },
    );
    return this.migrated;
  }

  /** Its file, or the hosts and the name of its database. */
  get place(): string {
    if (this.file) return this.file;
    const addresses = (parsePostgresAddress(this.settings.databaseUrl ?? "") ?? []).map(
      (url) => new URL(url),
    );
    const hosts = addresses.map(({ host, searchParams }) => searchParams.get("host") ?? host);
    return `PostgreSQL at ${hosts.join(",")}${addresses[0]?.pathname ?? ""}`;
  }

  /** Whether it is embedded and its file is not there. */
  get isMissing(): boolean {
    return this.file !== undefined && !existsSync(this.file);
  }

  /** PostgreSQL's connections, and requests that wait for one; undefined for the embedded store, and before a query. */
  countConnections(): ReturnType<PostgresPool["count"]> | undefined {
    return this.connections?.count();
  }

  /** Removes deleted rows from the embedded store's write-ahead log, which would keep them until it is overwritten. */
  async purgeDeleted(): Promise<void> {
    if (this.file) await purgeDeleted(this.file, performance.now() + answersWithinMs.store);
  }

  /** Bounds the embedded store's write-ahead log, which grows next to a long reader. */
  async boundLog(): Promise<void> {
    if (this.file) await boundLog(this.file);
  }

  close(): Promise<void> {
    return this.db.destroy();
  }

  /** The names of the migrations that it lacks. */
  findPending(): Promise<string[]> {
    return findPending(this.db.withoutPlugins() as unknown as MigrationDb, this.changes);
  }

  /** Returns the names of the migrations that it applied. */
  async migrate(): Promise<string[]> {
    const { databaseUrl, databaseDirectUrl = databaseUrl } = this.settings;
    const store = this.db.withoutPlugins() as unknown as MigrationDb;
    if ((await this.findPending()).length === 0) return [];
    if (!databaseDirectUrl) return migrateEmbedded(store, this.changes);
    return migratePostgres(databaseDirectUrl, this.changes);
  }
}
