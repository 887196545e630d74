import type { PostgresPool, PostgresPoolClient, QueryResult } from "kysely";
import pg from "pg";
import { log } from "@/lib/runtime/log";

const connectWithinMs = 1500;
const lifetimeSeconds = 5 * 60; // 5 minutes, so that after a change of servers none stays with the old one

type Options = {
  /** How many connections are open at once, at most. */
  connections: number;
  /** A statement that gets no answer within it is an outage. */
  queryTimeoutMs: number;
  /** Whether a pooler is known to be in between. One that refuses our settings is noticed; one that drops them is not. */
  isPooled?: boolean;
};

/**
 * The connections to PostgreSQL, which keep an outage from becoming a longer one. The server gives up just before
 * we do: a statement, a wait for a lock, and a transaction in which nothing happens. So what we no longer wait for
 * holds no lock, and no connection is left behind at work. A connection that broke, or that a failover has made
 * read-only, serves no other query.
 */
export class Connections implements PostgresPool {
  private readonly limits: Record<string, number>;
  /** Whether the server itself takes our limits as a connection begins. A pooler between us and it does not. */
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
    this.pool = this.open();
  }

  async connect(): Promise<PostgresPoolClient> {
    const { client, pool } = await this.take();
    let isBroken = false;
    let isInTransaction = false;
    const query = async (sql: string, parameters: unknown[]) => {
      if (isBroken) {
        // It is closed once it is given back, which rolls back.
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
        if (isReadOnly(failure)) this.renew(pool);
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

  private async take(): Promise<{ client: pg.PoolClient; pool: pg.Pool }> {
    const { pool } = this;
    try {
      return { client: await pool.connect(), pool };
    } catch (failure) {
      if (!isRefusedSetting(failure)) throw failure;
      if (this.isDirect) log().info("a pooler is in front of the store: each transaction brings its limits");
      this.isDirect = false;
      this.renew(pool);
      return { client: await this.pool.connect(), pool: this.pool };
    }
  }

  /** Behind a pooler a connection of the server's is ours for a transaction, and so are limits. */
  private limitedBegin(): string {
    const limits = Object.entries(this.limits).map(([name, ms]) => `; set local ${name} = ${ms}`);
    return `begin${limits.join("")}`;
  }

  /** A statement in a transaction of its own: sent together, it takes no longer than alone. */
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

  /** Leaves every connection of a pool to end once it is given back, and begins another one. */
  private renew(pool: pg.Pool): void {
    if (pool !== this.pool) return;
    this.pool = this.open();
    pool.end().catch(() => {});
  }

  private open(): pg.Pool {
    const pool = new pg.Pool({
      ...connectionTo(this.url),
      ...(this.isDirect ? this.limits : { pipeline: true }),
      max: this.options.connections,
      maxLifetimeSeconds: lifetimeSeconds,
      query_timeout: this.options.queryTimeoutMs,
    });
    // One that breaks, idle or taken, would otherwise end the process.
    const warn = (failure: Error) =>
      log().warn({ code: (failure as NodeJS.ErrnoException).code }, "a store connection broke");
    pool.on("error", warn);
    pool.on("connect", (client) => client.on("error", () => {}));
    return pool;
  }
}

/** How every connection to the store is made: in time, or not. 64-bit numbers come as numbers. */
export function connectionTo(connectionString: string): pg.PoolConfig {
  return {
    connectionString,
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  };
}

/** PgBouncer's word (protocol_violation) for a setting that it does not pass on. */
function isRefusedSetting(failure: unknown): boolean {
  return failure instanceof pg.DatabaseError && /unsupported startup parameter/.test(failure.message);
}

/** The server has become a standby, or is about to: SQLSTATE 25006, read_only_sql_transaction. */
function isReadOnly(failure: unknown): boolean {
  return failure instanceof pg.DatabaseError && failure.code === "25006";
}

/** SQLSTATE: connection exceptions, a server that stops or starts, a transaction that was idle for too long. */
function endsConnection({ code = "" }: pg.DatabaseError): boolean {
  return /^(08|57P0|25006|25P03)/.test(code);
}
