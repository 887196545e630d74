import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type LimitNode,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import { type OpenFile, resultCode, retryWhileLocked, SqliteFile } from "@/lib/db/sqlite/file";
import { StoreOutage } from "@/lib/db/store-outage";
import { Places } from "@/lib/runtime/places";

/**
 * A Kysely dialect for a SQLite file that other processes also write to.
 *
 * Kysely's own dialect waits for another process's lock in a native call, which blocks the event loop. This one waits
 * between calls. Reads use a separate connection, so they never queue behind a transaction.
 *
 * @param lockTimeoutMs - how long a write waits for earlier writes and for another process's lock before it throws
 */
export function sqliteDialect(file: string, lockTimeoutMs: number): Dialect {
  return {
    createDriver: () => new SqliteDriver(new SqliteFile(file), lockTimeoutMs),
    createQueryCompiler: () => new QueryCompiler(),
    createAdapter: () => new SeveralConnectionsAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Reads do not wait for a transaction, and the driver gives writes their turns. */
class SeveralConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true;
  }
}

class QueryCompiler extends SqliteQueryCompiler {
  /** Drops `FOR UPDATE` and `SKIP LOCKED`: a write transaction locks the whole file. */
  protected override visitSelectQuery({ endModifiers, ...query }: SelectQueryNode): void {
    super.visitSelectQuery(query);
  }

  /** Writes a limit into the text: SQLite plans a statement anew each time that one is bound. */
  protected override visitLimit({ limit }: LimitNode): void {
    this.append("limit ");
    if (ValueNode.is(limit)) this.appendImmediateValue(limit.value);
    else this.visitNode(limit);
  }
}

class SqliteDriver implements Driver {
  private reader: Promise<OpenFile> | undefined;
  private writer: OpenFile | undefined;
  private readonly turns = new Places({ requests: 1, background: 1 });

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
    this.writer?.db.close();
    this.writer = undefined;
    await this.closeReader();
  }

  /** Waits for its turn in this process, then for the file's write lock. One deadline covers both. */
  async beginWrite(): Promise<EndWrite> {
    const deadlineMs = performance.now() + this.lockTimeoutMs;
    const withinMs = { requests: this.lockTimeoutMs, background: this.lockTimeoutMs };
    const isLocked = () => new StoreOutage(new Error("the store is locked by other writes"));
    await this.turns.begin(withinMs, isLocked);
    // Every write waits for the disk, so let reads and responses run between two writes.
    await yieldToEventLoop();
    try {
      this.writer ??= await this.file.open(deadlineMs);
      const { db, identity } = this.writer;
      await retryWhileLocked(deadlineMs, () => db.exec("BEGIN IMMEDIATE"));
      return (how) => {
        try {
          db.exec(how);
          if (how === "COMMIT") this.requireSameFile(identity);
        } catch (failure) {
          if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
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

  /** Throws if the file was removed or replaced: the write would be lost. The next query opens what is there then. */
  private requireSameFile(identity: string): void {
    if (this.file.identify() === identity) return;
    void this.destroy();
    throw new Error("the store's file was removed or replaced while it was open");
  }

  write(sql: string, parameters: readonly unknown[]) {
    return (this.writer as OpenFile).execute(sql, parameters);
  }

  async read(sql: string, parameters: readonly unknown[]) {
    const deadlineMs = performance.now() + this.lockTimeoutMs;
    this.reader ??= this.file.open(deadlineMs); // concurrent first reads share it
    const { reader } = this;
    let file: OpenFile | undefined;
    try {
      const open = await reader;
      file = open;
      return await retryWhileLocked(deadlineMs, () => open.execute(sql, parameters));
    } catch (error) {
      // Whatever became of the file, the next read opens it anew.
      if (this.reader === reader && !(file && isMistake(error))) await this.closeReader();
      throw error;
    }
  }

  private async closeReader(): Promise<void> {
    const { reader } = this;
    this.reader = undefined;
    await reader?.then(({ db }) => db.close()).catch(() => {});
  }
}

type EndWrite = (how: "COMMIT" | "ROLLBACK") => void;

class SqliteConnection implements DatabaseConnection {
  endWrite: EndWrite | undefined;

  constructor(private readonly driver: SqliteDriver) {}

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return (await this.execute(sql, parameters, SelectQueryNode.is(query))) as QueryResult<R>;
    } catch (failure) {
      throw toOutage(failure);
    }
  }

  private async execute(sql: string, parameters: readonly unknown[], isRead: boolean) {
    if (this.endWrite) return this.driver.write(sql, parameters);
    if (isRead) return this.driver.read(sql, parameters);
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

/** SQLITE_ERROR, TOOBIG, CONSTRAINT, MISMATCH, MISUSE and RANGE: what it says of a statement or its values. */
const mistakes = new Set([1, 18, 19, 20, 21, 25]);

/** What SQLite says of a statement or its values is our mistake; the rest is an outage: its file, locks and disk. */
function toOutage(failure: unknown): unknown {
  return isMistake(failure) || failure instanceof StoreOutage ? failure : new StoreOutage(failure);
}

function isMistake(failure: unknown): boolean {
  return failure instanceof TypeError || failure instanceof RangeError || mistakes.has(resultCode(failure));
}
