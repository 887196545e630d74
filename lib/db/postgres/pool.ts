import type { PostgresPool as Pool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { statementName } from "@/lib/db/frequent-statement";
import { connectionOptions, makePool } from "@/lib/db/postgres/connection";
import { hasEnded, isRefusedSetting, says, states, toOutage } from "@/lib/db/postgres/failures";
import { AcceptsNoWrites, acceptsWrites, Hosts } from "@/lib/db/postgres/hosts";
import { type Limits, queryPooled } from "@/lib/db/postgres/pooler";
import { StoreOutage } from "@/lib/db/store-outage";
import { repeatConflicts } from "@/lib/db/transaction";
import { log } from "@/lib/runtime/log";

const lifetimeSeconds = 5 * 60; // 5 minutes, so that every connection moves to the new server after a switch

type Options = {
  /** Maximum number of open connections. */
  connections: number;
  /** A statement without a result after this time fails. */
  queryTimeoutMs: number;
  /** Whether a pooler is configured. One that is not is detected if it rejects our settings or named statements. */
  isPooled?: boolean;
};

/**
 * A connection pool that keeps an outage from lasting longer than its cause. The server's timeouts for statements,
 * locks and idle transactions expire just before ours, so abandoned work holds no locks and occupies no connection. A
 * connection that broke, or that became read-only in a failover, is not used again. All connections lead to the host that
 * {@link Hosts} chose; if it is only read, writes fail.
 */
export class PostgresPool implements Pool {
  private readonly limits: Limits;
  /** Whether the server accepts our timeouts at connection start. With a pooler it does not. */
  private isDirect: boolean;
  private readonly hosts: Hosts;
  private readonly verified = new WeakSet<pg.PoolClient>();
  /** Each call waits for a connection of the next pool, and no longer for one of this. */
  private readonly waiting = new Set<() => void>();
  private pool: pg.Pool;

  /** @param readUrl - reads the address, which may have another password after a rotation */
  constructor(
    readUrl: () => string,
    readonly options: Options,
  ) {
    this.hosts = new Hosts(readUrl, () => this.replacePool());
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
    const client = await this.acquire().catch((failure) => {
      throw new StoreOutage(failure); // a refusal, too, in whatever language
    });
    let isBroken = false;
    let isInTransaction = false;
    let isToBegin = false;
    const query = async (sql: string, parameters: unknown[]) => {
      if (isBroken) {
        // Releasing the connection closes it, which rolls back.
        if (sql === "rollback") return { command: "ROLLBACK", rowCount: 0, rows: [] };
        throw new StoreOutage(new Error("the connection to the store broke"));
      }
      const send = (sql: string, parameters: unknown[]) =>
        this.isDirect
          ? client.query({ name: statementName(sql), text: sql, values: parameters })
          : queryPooled(client, this.limits, { sql, parameters, isInTransaction });
      // A transaction begins with its first statement: both are sent at once, and one without a statement never is.
      const isBegun = isToBegin;
      isToBegin = sql === "begin";
      isInTransaction ||= isToBegin;
      if (isToBegin || (isBegun && /^(commit|rollback)$/.test(sql)))
        return { command: sql.toUpperCase(), rowCount: 0, rows: [] };
      const run = async () => {
        try {
          if (!isBegun) return await send(sql, parameters);
          const [, result] = await Promise.all([send("begin", []), send(sql, parameters)]);
          return result;
        } catch (failure) {
          if (says(failure, states.unknownStatement)) this.findPooler();
          throw failure;
        }
      };
      try {
        // A transaction is repeated as a whole, by who began it.
        return await (isInTransaction ? run() : repeatConflicts(run));
      } catch (failure) {
        const isEnd = hasEnded(failure);
        ({ isBroken } = this.hosts.leave(failure, isEnd));
        throw sql === "commit" && isEnd ? new StoreOutage(failure, true) : toOutage(failure);
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

  private async acquire(): Promise<pg.PoolClient> {
    await this.hosts.find();
    try {
      return await this.verifiedClient();
    } catch (failure) {
      if (isRefusedSetting(failure)) this.findPooler();
      else if (this.hosts.mayHelp(failure)) await this.hosts.search();
      else throw failure;
      return this.verifiedClient();
    }
  }

  /** From now on, no connection is taken for the server's own. */
  private findPooler(): void {
    if (!this.isDirect) return;
    log().info("the store is behind a pooler: timeouts are set in each transaction");
    this.isDirect = false;
    this.replacePool();
  }

  /** Takes a connection of the pool; a new one is asked whether it accepts writes, where it has to. */
  private async verifiedClient(): Promise<pg.PoolClient> {
    const client = await this.takeClient();
    // A pooler may lead each transaction to another server, and its own queue is not a host that is away.
    const isUnverifiable = !this.isDirect && !this.hosts.areSeveral;
    if (this.verified.has(client) || isUnverifiable) return client;
    try {
      if (this.hosts.use !== "reads" && !(await acceptsWrites(client))) throw new AcceptsNoWrites();
      this.verified.add(client);
      this.hosts.hasConnected = true;
      return client;
    } catch (failure) {
      client.release(true);
      throw failure;
    }
  }

  /** Waits for a connection of the current pool: one that has ended never answers those that wait for it. */
  private takeClient(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      const takeNext = () => resolve(this.takeClient());
      this.waiting.add(takeNext);
      this.pool.connect().then(
        (client) => (this.waiting.delete(takeNext) ? resolve(client) : client.release(true)),
        (failure) => {
          this.waiting.delete(takeNext);
          reject(failure);
        },
      );
    });
  }

  /** Replaces the pool. Connections of the old one close when they are released. */
  private replacePool(): void {
    const old = this.pool;
    const waiting = [...this.waiting];
    this.waiting.clear();
    this.pool = this.openPool();
    for (const takeNext of waiting) takeNext();
    old.end().catch(() => {});
  }

  private openPool(): pg.Pool {
    return makePool({
      ...connectionOptions(this.hosts.way),
      ...(this.isDirect && this.limits),
      pipeline: true,
      max: this.options.connections,
      maxLifetimeSeconds: lifetimeSeconds,
      idleTimeoutMillis: 0, // they end by their age: a new one costs the server more than many queries
      query_timeout: this.options.queryTimeoutMs,
    });
  }
}
