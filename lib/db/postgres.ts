import { Socket } from "node:net";
import type { PostgresPool, PostgresPoolClient, QueryResult } from "kysely";
import pg from "pg";
import { parsePostgresAddress } from "@/lib/config/postgres-address";
import { log } from "@/lib/runtime/log";
import { blockReadiness } from "@/lib/runtime/readiness";

const connectTimeoutMs = 1500;
const lifetimeSeconds = 5 * 60; // 5 minutes, so that every connection moves to the new server after a switch
const goodbyeMs = 5000; // for a server to end its side of a closed connection; a frozen one never does

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
 * connection that broke, or that became read-only in a failover, is not used again. With several hosts, all connections
 * lead to the one that accepts writes.
 */
export class Connections implements PostgresPool {
  private readonly limits: Record<string, number>;
  /** Whether the server accepts our timeouts at connection start. With a pooler it does not. */
  private isDirect: boolean;
  private readonly hosts: string[];
  private readonly mustWrite: boolean;
  /** The host of the pool: before the first connection, a guess. */
  private host: string;
  private hasConnected = false;
  private moving: Promise<void> | undefined;
  private setReady: (() => void) | undefined;
  private readonly verified = new WeakSet<pg.PoolClient>();
  private pool: pg.Pool;

  constructor(
    url: string,
    private readonly options: Options,
  ) {
    const { addresses, mustWrite } = hostsOf(url);
    this.hosts = addresses;
    this.host = addresses[0] ?? url;
    this.mustWrite = mustWrite;
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
        if (isReadOnly(failure)) {
          this.reportWritable(false);
          this.replacePool(pool);
        }
        if (isBroken && this.hosts.length > 1) this.moveToWriter().catch(() => {});
        throw failure;
      }
    };
    // One that only reads is used once: the next one shows whether the server was promoted.
    const release = () => client.release(isBroken || this.setReady !== undefined);
    return { query, release } as unknown as PostgresPoolClient;
  }

  count(): { used: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async end(): Promise<void> {
    await this.pool.end();
  }

  private async acquire(): Promise<{ client: pg.PoolClient; pool: pg.Pool }> {
    await this.moving;
    const { pool } = this;
    try {
      return { client: await this.verifiedClient(pool), pool };
    } catch (failure) {
      if (isRefusedSetting(failure)) {
        if (this.isDirect) log().info("the store is behind a pooler: timeouts are set in each transaction");
        this.isDirect = false;
        this.replacePool(pool);
      } else if (this.hosts.length > 1 && !isPoolExhausted(failure)) await this.moveToWriter();
      else throw failure;
      return { client: await this.verifiedClient(this.pool), pool: this.pool };
    }
  }

  /** Takes a connection of the pool; a new one is asked whether it accepts writes. Throws where it must and does not. */
  private async verifiedClient(pool: pg.Pool): Promise<pg.PoolClient> {
    const client = await pool.connect();
    // A pooler may lead each transaction to another server.
    const isUnverifiable = !this.isDirect && !this.mustWrite && !this.setReady;
    if (this.verified.has(client) || isUnverifiable) return client;
    try {
      const isWritable = await acceptsWrites(client);
      this.reportWritable(isWritable);
      if (!isWritable && this.mustWrite) throw new Error("the store accepts no writes");
      this.verified.add(client);
      this.hasConnected = true;
      return client;
    } catch (failure) {
      client.release(true);
      throw failure;
    }
  }

  /** Finds the host that accepts writes, and drops the connections to every other. Throws if there is none. */
  private moveToWriter(): Promise<void> {
    this.moving ??= findWriter(this.hosts)
      .then((host) => {
        if (host === this.host) return;
        this.host = host;
        if (this.hasConnected) log().warn({ host: new URL(host).host }, "the store is at another host now");
        this.replacePool(this.pool);
      })
      .finally(() => {
        this.moving = undefined;
      });
    return this.moving;
  }

  /** An instance at a standby is not ready: it could answer reads, and no write. */
  private reportWritable(isWritable: boolean): void {
    if (isWritable) this.setReady?.();
    this.setReady = isWritable ? undefined : (this.setReady ?? blockReadiness("the store accepts no writes"));
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
      ...connectionOptions(this.host),
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

function hostsOf(url: string) {
  const parsed = parsePostgresAddress(url);
  if (!parsed) throw new Error("the address of the store is malformed");
  return parsed;
}

/** Whether a transaction may write: not on a standby, and not where the database is read-only. */
async function acceptsWrites(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  return rows[0]?.transaction_read_only === "off";
}

/** The first of these addresses to say that it accepts writes. Throws if none does within the time of a connection. */
async function findWriter(addresses: readonly string[]): Promise<string> {
  const asked = addresses.map(async (address) => {
    const client = new pg.Client({ ...connectionOptions(address), query_timeout: connectTimeoutMs });
    client.on("error", () => {});
    try {
      await client.connect();
      if (await acceptsWrites(client)) return address;
    } finally {
      client.end().catch(() => {});
    }
    throw new Error("it accepts no writes");
  });
  return Promise.any(asked).catch((cause: AggregateError) => {
    throw new Error("no host of the store accepts writes", { cause });
  });
}

/** The address of the store's host that accepts writes. */
export async function writableAddress(url: string): Promise<string> {
  const { addresses, mustWrite } = hostsOf(url);
  return mustWrite ? findWriter(addresses) : (addresses[0] ?? url);
}

/** At most two connections to the host that accepts writes, without a limit on the time of a query. */
export async function openUnlimitedPool(url: string): Promise<pg.Pool> {
  const pool = new pg.Pool({ ...connectionOptions(await writableAddress(url)), max: 2 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Common options of all connections. 64-bit integers are returned as numbers. */
function connectionOptions(connectionString: string): pg.PoolConfig {
  return {
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    stream: createSocket,
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  };
}

/** A socket that waits only shortly for the server to end its side of the connection, too. */
function createSocket(): Socket {
  const socket = new Socket();
  return socket.once("finish", () => {
    const deadline = setTimeout(() => socket.destroy(), goodbyeMs).unref();
    socket.once("close", () => clearTimeout(deadline));
  });
}

/** All connections are in use: not the fault of the host. */
function isPoolExhausted(failure: unknown): boolean {
  return failure instanceof Error && failure.message === "timeout exceeded when trying to connect";
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
