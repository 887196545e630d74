import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import Database from "libsql";
import { makeFolder } from "@/lib/process/data-dir";

const nativeWaitMs = 25; // how long one native call may hold up the event loop
const retryAfterMs = 10;

/**
 * Kysely's dialect for a SQLite file that other processes write to as well.
 *
 * Kysely's own waits for another process's lock inside a native call, which stops the event loop for as
 * long; this one waits between short calls. Reads have a connection of their own, so that they never
 * queue behind a transaction. `libsql` refuses every later COMMIT once a prepared statement has met a lock,
 * so the lock is taken first, by `BEGIN IMMEDIATE`, for single writes too.
 *
 * @param lockedForMs - how long a write waits for another process's lock before it throws SQLITE_BUSY
 */
export function sqliteDialect(file: string, lockedForMs: number): Dialect {
  return {
    createDriver: () => new SqliteDriver(file, lockedForMs),
    createQueryCompiler: () => new QueryCompiler(),
    createAdapter: () => new TransactionalDdlAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** SQLite's DDL is transactional, and `BEGIN IMMEDIATE` is the lock that keeps two migrators apart. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true;
  }
}

/** `FOR UPDATE` and `SKIP LOCKED` mean nothing here: a transaction that writes has the whole file to itself. */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectQuery({ endModifiers, ...query }: SelectQueryNode): void {
    super.visitSelectQuery(query);
  }
}

class SqliteDriver implements Driver {
  private reader: Database.Database | undefined;
  private writer: Database.Database | undefined;
  private opening: Promise<Database.Database> | undefined;
  private readonly reads = new Map<string, Database.Statement>();
  private lastWrite: Promise<void> = Promise.resolve();

  constructor(
    private readonly file: string,
    private readonly lockedForMs: number,
  ) {}

  async init() {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this);
  }

  async beginTransaction(connection: SqliteConnection) {
    connection.endWrite = await this.beginWrite();
  }

  async commitTransaction(connection: SqliteConnection) {
    connection.endWrite?.("COMMIT");
    connection.endWrite = undefined;
  }

  async rollbackTransaction(connection: SqliteConnection) {
    connection.endWrite?.("ROLLBACK");
    connection.endWrite = undefined;
  }

  async releaseConnection() {}

  async destroy() {
    this.reader?.close();
    this.writer?.close();
  }

  /** Waits for its turn in this process, then for the file's write lock. */
  async beginWrite(): Promise<EndWrite> {
    let free = () => {};
    const turn = this.lastWrite;
    this.lastWrite = new Promise((resolve) => {
      free = resolve;
    });
    await turn;
    // Reads and answers have their turn between two writes, each of which waits for the disk.
    await nextTurn();
    try {
      this.writer ??= await this.open();
      const writer = this.writer;
      await this.whileLocked(() => writer.exec("BEGIN IMMEDIATE"));
      return (how) => {
        try {
          writer.exec(how);
        } catch (error) {
          if (writer.inTransaction) writer.exec("ROLLBACK");
          throw error;
        } finally {
          free();
        }
      };
    } catch (error) {
      free();
      throw error;
    }
  }

  write(sql: string, parameters: readonly unknown[]): QueryResult<never> {
    const statement = (this.writer as Database.Database).prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) as never[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) };
  }

  async read(sql: string, parameters: readonly unknown[]): Promise<QueryResult<never>> {
    this.reader ??= await this.openReader();
    try {
      let statement = this.reads.get(sql);
      if (!statement) {
        statement = this.reader.prepare(sql);
        this.reads.set(sql, statement);
      }
      return { rows: statement.all(parameters) as never[] };
    } catch (error) {
      // A statement that failed may hold on to its snapshot: the next read starts afresh.
      this.reads.clear();
      this.reader.close();
      this.reader = undefined;
      throw error;
    }
  }

  /** One reader, however many ask for the first. */
  private openReader(): Promise<Database.Database> {
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async open(): Promise<Database.Database> {
    makeFolder(dirname(this.file));
    // Only where there is none: to open and close a database's file ends this process's locks on it.
    if (!existsSync(this.file)) writeFileSync(this.file, "", { flag: "a", mode: 0o600 });
    const db = new Database(this.file, { timeout: nativeWaitMs } as Database.Options);
    try {
      await this.whileLocked(() => db.exec("PRAGMA journal_mode = WAL"));
      db.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  private async whileLocked(attempt: () => void): Promise<void> {
    const giveUpAtMs = Date.now() + this.lockedForMs;
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || Date.now() > giveUpAtMs) throw error;
        await sleep(retryAfterMs);
      }
    }
  }
}

type EndWrite = (how: "COMMIT" | "ROLLBACK") => void;

class SqliteConnection implements DatabaseConnection {
  /** While a transaction is open on this connection: ends it. */
  endWrite: EndWrite | undefined;

  constructor(private readonly driver: SqliteDriver) {}

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.endWrite) return this.driver.write(sql, parameters);
    if (SelectQueryNode.is(query)) return this.driver.read(sql, parameters);
    const endWrite = await this.driver.beginWrite();
    let how: "COMMIT" | "ROLLBACK" = "ROLLBACK";
    try {
      const result = this.driver.write(sql, parameters);
      how = "COMMIT";
      return result;
    } finally {
      endWrite(how);
    }
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error("This store does not stream.");
  }
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
}
