import type { PostgresPool, PostgresPoolClient, QueryResult } from "kysely";
import pg from "pg";
import { log } from "@/lib/runtime/log";

const connectTimeoutMs = 1500;
const lifetimeSeconds = 5 * 60; // 5 minutes, so that every connection moves to the new server after a switch

type Options = {
  /** Maximum number of open connections. */
  connections: number;
  /** A statement without a result after this time fails. */
  queryTimeoutMs: number;
  /** Whether a pooler is configured. A pooler that rejects our settings is detected; one that ignores them is not. */
  isPooled?: boolean;
};

/**
 * A connection pool that keeps an outage from lasting longer than its cause. The server's timeouts for statements,
 * locks and idle transactions expire just before ours, so abandoned work holds no locks and occupies no connection. A
 * connection that broke, or that became read-only in a failover, is not used again.
 */
export class Connections implements PostgresPool {
  private readonly limits: Record<string, number>;
  /** Whether the server accepts our timeouts at connection start. With a pooler it does not. */
  private isDirect: boolean;
  private pool: pg.Pool;

  constructor(
    private readonly url: string,
    private readonly options: Options,
  ) {
    const { queryTimeoutMs } = options;
    this.limits = {
      lock_timeout: queryTimeoutMs - 200,
      statement_timeout: queryTimeoutMs - 100,
      idle_in_transaction_session_timeout: queryTimeoutMs - 100,
    };
    this.isDirect = !options.isPooled;
    this.pool = this.openPool();
  }

  async connect(): Promise<PostgresPoolClient> {
    const { client, pool } = await this.acquire();
    let isBroken = false;
    let isInTransaction = false;
    const query = async (sql: string, parameters: unknown[]) => {
      if (isBroken) {
        // Releasing the connection closes it, which rolls back.
        if (sql === "rollback") return { command: "ROLLBACK", rowCount: 0, rows: [] };
        throw new Error("the connection to the store broke");
      }
      if (sql === "begin") isInTransaction = true;
      try {
        if (this.isDirect) return await client.query(sql, parameters);
        if (sql === "begin") return await client.query(this.limitedBegin());
        return isInTransaction
          ? await client.query(sql, parameters)
          : await this.queryLimited(client, sql, parameters);
      } catch (failure) {
        isBroken = !(failure instanceof pg.DatabaseError) || endsConnection(failure);
        if (isReadOnly(failure)) this.replacePool(pool);
        throw failure;
      }
    };
    return { query, release: () => client.release(isBroken) } as unknown as PostgresPoolClient;
  }

  count(): { used: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async end(): Promise<void> {
    await this.pool.end();
  }

  private async acquire(): Promise<{ client: pg.PoolClient; pool: pg.Pool }> {
    const { pool } = this;
    try {
      return { client: await pool.connect(), pool };
    } catch (failure) {
      if (!isRefusedSetting(failure)) throw failure;
      if (this.isDirect) log().info("the store is behind a pooler: timeouts are set in each transaction");
      this.isDirect = false;
      this.replacePool(pool);
      return { client: await this.pool.connect(), pool: this.pool };
    }
  }

  /**
   * Behind a pooler we own a server connection only for a transaction, so the timeouts are set for each transaction.
   */
  private limitedBegin(): string {
    const limits = Object.entries(this.limits).map(([name, ms]) => `; set local ${name} = ${ms}`);
    return `begin${limits.join("")}`;
  }

  /**
   * Runs a statement in its own transaction. The three commands are pipelined, so it takes no longer than the statement
   * alone.
   */
  private async queryLimited(client: pg.PoolClient, sql: string, parameters: unknown[]) {
    const [begun, result, ended] = await Promise.allSettled([
      client.query(this.limitedBegin()),
      client.query(sql, parameters),
      client.query("commit"),
    ]);
    for (const outcome of [begun, result, ended]) {
      if (outcome.status === "rejected") throw outcome.reason;
    }
    return (result as PromiseFulfilledResult<QueryResult<unknown>>).value;
  }

  /** Replaces the pool. Connections of the old one close when they are released. */
  private replacePool(pool: pg.Pool): void {
    if (pool !== this.pool) return;
    this.pool = this.openPool();
    pool.end().catch(() => {});
  }

  private openPool(): pg.Pool {
    const pool = new pg.Pool({
      ...connectionOptions(this.url),
      ...(this.isDirect ? this.limits : { pipeline: true }),
      max: this.options.connections,
      maxLifetimeSeconds: lifetimeSeconds,
      query_timeout: this.options.queryTimeoutMs,
    });
    // Without a listener, a connection that breaks would end the process.
    const warn = (failure: Error) =>
      log().warn({ code: (failure as NodeJS.ErrnoException).code }, "a store connection broke");
    pool.on("error", warn);
    pool.on("connect", (client) => client.on("error", () => {}));
    return pool;
  }
}

/** Common options of all connections. 64-bit integers are returned as numbers. */
export function connectionOptions(connectionString: string): pg.PoolConfig {
  return {
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  };
}

/** PgBouncer's error (protocol_violation) for a startup parameter that it does not support. */
function isRefusedSetting(failure: unknown): boolean {
  return failure instanceof pg.DatabaseError && /unsupported startup parameter/.test(failure.message);
}

/** The server is, or is becoming, a standby: SQLSTATE 25006, read_only_sql_transaction. */
function isReadOnly(failure: unknown): boolean {
  return failure instanceof pg.DatabaseError && failure.code === "25006";
}

/** SQLSTATEs: connection exceptions, server start and shutdown, idle-in-transaction timeout. */
function endsConnection({ code = "" }: pg.DatabaseError): boolean {
  return /^(08|57P0|25006|25P03)/.test(code);
}
