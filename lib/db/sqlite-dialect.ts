import { setImmediate as yieldToEventLoop } from "node:timers/promises";
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
  ValueNode,
} from "kysely";
import type Database from "libsql";
import { type OpenFile, retryWhileLocked, SqliteFile } from "@/lib/db/sqlite-file";
import { StoreOutage } from "@/lib/db/store-outage";
import { WriteTurns } from "@/lib/db/write-turns";

/**
 * A Kysely dialect for a SQLite file that other processes also write to.
 *
 * Kysely's own dialect waits for another process's lock in a native call, which blocks the event loop. This one waits
 * between short calls. Reads use a separate connection, so they never queue behind a transaction. After a prepared
 * statement has met a lock, `libsql` refuses every later COMMIT; so even single writes take the lock first, with `BEGIN
 * IMMEDIATE`.
 *
 * @param lockTimeoutMs - how long a write waits for earlier writes and for another process's lock before it throws
 */
export function sqliteDialect(file: string, lockTimeoutMs: number): Dialect {
  return {
    createDriver: () => new SqliteDriver(new SqliteFile(file), lockTimeoutMs),
    createQueryCompiler: () => new QueryCompiler(),
    createAdapter: () => new TransactionalDdlAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** SQLite's DDL is transactional, and `BEGIN IMMEDIATE` keeps two migrators apart. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true;
  }
}

/** Drops `FOR UPDATE` and `SKIP LOCKED`: a write transaction locks the whole file. */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectQuery({ endModifiers, ...query }: SelectQueryNode): void {
    super.visitSelectQuery(query);
  }
}

class SqliteDriver implements Driver {
  private reader: OpenFile | undefined;
  private writer: OpenFile | undefined;
  private opening: Promise<OpenFile> | undefined;
  private readonly reads = new Map<string, Read>();
  private readonly turns = new WriteTurns();

  constructor(
    private readonly file: SqliteFile,
    private readonly lockTimeoutMs: number,
  ) {}

  async init() {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this);
  }

  async beginTransaction(connection: SqliteConnection) {
    connection.endWrite = await this.beginWrite();
  }

  async commitTransaction(connection: SqliteConnection) {
    this.end(connection, "COMMIT");
  }

  /** Kysely also calls this after a failed commit, when there is no transaction to end. */
  async rollbackTransaction(connection: SqliteConnection) {
    this.end(connection, "ROLLBACK");
  }

  private end(connection: SqliteConnection, how: "COMMIT" | "ROLLBACK"): void {
    const { endWrite } = connection;
    connection.endWrite = undefined;
    endWrite?.(how);
  }

  async releaseConnection() {}

  async destroy() {
    this.closeReader();
    this.writer?.db.close();
    this.writer = undefined;
  }

  /** Waits for its turn in this process, then for the file's write lock. One deadline covers both. */
  async beginWrite(): Promise<EndWrite> {
    const deadlineMs = performance.now() + this.lockTimeoutMs;
    await this.turns.begin(this.lockTimeoutMs);
    // Every write waits for the disk, so let reads and responses run between two writes.
    await yieldToEventLoop();
    try {
      this.writer ??= await this.file.open(deadlineMs);
      const { db, identity } = this.writer;
      await retryWhileLocked(deadlineMs, () => db.exec("BEGIN IMMEDIATE"));
      return (how) => {
        try {
          endTransaction(db, how);
          if (how === "COMMIT") this.requireSameFile(identity);
        } catch (failure) {
          throw toOutage(failure);
        } finally {
          this.turns.end();
        }
      };
    } catch (failure) {
      this.turns.end();
      throw toOutage(failure);
    }
  }

  /**
   * Throws if the file was removed or replaced, because the write would be lost. The next query opens the file that is
   * at the path by then.
   */
  private requireSameFile(identity: string): void {
    if (this.file.identify() === identity) return;
    void this.destroy();
    throw new Error("the store's file was removed or replaced while it was open");
  }

  write(sql: string, parameters: readonly unknown[]): QueryResult<never> {
    const statement = (this.writer as OpenFile).db.prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) as never[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) };
  }

  async read(sql: string, parameters: readonly unknown[], isLimitOne: boolean): Promise<QueryResult<never>> {
    await this.turns.letRequestsPass(this.lockTimeoutMs);
    this.reader ??= await this.openReader();
    try {
      let read = this.reads.get(sql);
      if (!read) {
        const statement = this.reader.db.prepare(sql).raw();
        read = { statement, columns: statement.columns().map(({ name }) => name) };
        this.reads.set(sql, read);
      }
      return { rows: readRows(read, parameters, isLimitOne) as never[] };
    } catch (error) {
      // A failed statement may keep its snapshot, so the next read opens a new connection.
      this.closeReader();
      throw error;
    }
  }

  private closeReader(): void {
    this.reads.clear();
    this.reader?.db.close();
    this.reader = undefined;
  }

  /** Concurrent first reads share one new connection. */
  private openReader(): Promise<OpenFile> {
    this.opening ??= this.file.open(performance.now() + this.lockTimeoutMs).finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }
}

function endTransaction(db: Database.Database, how: "COMMIT" | "ROLLBACK"): void {
  try {
    db.exec(how);
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

type Read = { statement: Database.Statement; columns: string[] };

/**
 * Converts rows to objects here, because the binding's own conversion is a third slower. Reading one row by iteration
 * takes half as long again as `get`.
 */
function readRows(
  { statement, columns }: Read,
  parameters: readonly unknown[],
  isLimitOne: boolean,
): Record<string, unknown>[] {
  const toRow = (values: unknown[]) => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < columns.length; at++) row[columns[at] as string] = values[at];
    return row;
  };
  if (!isLimitOne) return Array.from(statement.iterate(parameters) as Iterable<unknown[]>, toRow);
  const values = statement.get(parameters) as unknown[] | undefined;
  return values ? [toRow(values)] : [];
}

type EndWrite = (how: "COMMIT" | "ROLLBACK") => void;

class SqliteConnection implements DatabaseConnection {
  /** Ends the open transaction; undefined when there is none. */
  endWrite: EndWrite | undefined;

  constructor(private readonly driver: SqliteDriver) {}

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.execute<R>(query).catch((failure) => {
      throw toOutage(failure);
    });
  }

  private async execute<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.endWrite) return this.driver.write(sql, parameters);
    if (SelectQueryNode.is(query)) return this.driver.read(sql, parameters, isLimitOne(query));
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

/** What SQLite says of a statement or its values is our mistake; the rest is an outage: its file, locks and disk. */
function toOutage(failure: unknown): unknown {
  const { code = "" } = failure as { code?: string };
  const isMistake =
    failure instanceof TypeError || /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|MISUSE|RANGE|TOOBIG)/.test(code);
  return isMistake || failure instanceof StoreOutage ? failure : new StoreOutage(failure);
}

/** Whether a query has `LIMIT 1`. */
function isLimitOne({ limit }: SelectQueryNode): boolean {
  return limit !== undefined && ValueNode.is(limit.limit) && limit.limit.value === 1;
}
