import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { PostgresPool as Pool, PostgresPoolClient, QueryResult } from "kysely";
import pg from "pg";
import { privateNetworks } from "@/lib/config/networks";
import { parsePostgresAddress } from "@/lib/config/postgres-address";
import { type Way, waysTo } from "@/lib/db/postgres-tls";
import { statementName } from "@/lib/db/statement-names";
import { StoreOutage } from "@/lib/db/store-outage";
import { repeatConflicts } from "@/lib/db/transaction";
import { recordOutage } from "@/lib/runtime/dependency-outages";
import { log } from "@/lib/runtime/log";

const connectTimeoutMs = 1500;
const searchEveryMs = 1000; // while the store is only read
const oldestReplaySeconds = 60; // for so long, an ended session can read as live
const lifetimeSeconds = 5 * 60; // 5 minutes, so that every connection moves to the new server after a switch
const goodbyeMs = 5000; // for a server to end its side of a closed connection; a frozen one never does

type Options = {
  /** Maximum number of open connections. */
  connections: number;
  /** A statement without a result after this time fails. */
  queryTimeoutMs: number;
  /** Whether a pooler is configured. One that is not is detected if it rejects our settings or named statements. */
  isPooled?: boolean;
};

/** Whether the pool leads to a host that accepts writes, to one that is only read, or to none. */
type Use = "writes" | "reads" | "none";

/**
 * A connection pool that keeps an outage from lasting longer than its cause. The server's timeouts for statements,
 * locks and idle transactions expire just before ours, so abandoned work holds no locks and occupies no connection. A
 * connection that broke, or that became read-only in a failover, is not used again. All connections lead to the host that
 * accepts writes. While there is none, they lead to one whose data are recent enough to be read, and writes fail.
 */
export class PostgresPool implements Pool {
  private readonly limits: Record<string, number>;
  /** Whether the server accepts our timeouts at connection start. With a pooler it does not. */
  private isDirect: boolean;
  private readonly hosts: Way[][];
  /** Where the pool leads: before the first connection, a guess. */
  private way: Way;
  private use: Use = "writes";
  private hasConnected = false;
  private searching: Promise<void> | undefined;
  private searchedAtMs = 0;
  private readonly verified = new WeakSet<pg.PoolClient>();
  /** Each call waits for a connection of the next pool, and no longer for one of this. */
  private readonly waiting = new Set<() => void>();
  private pool: pg.Pool;

  constructor(
    url: string,
    readonly options: Options,
  ) {
    this.hosts = (parsePostgresAddress(url) ?? [url]).map(waysTo);
    [[this.way]] = this.hosts as [[Way]];
    if (this.isUndecided()) this.use = "none"; // so that the first connection finds what the host takes
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
      throw toOutage(failure);
    });
    let isBroken = false;
    let isInTransaction = false;
    const query = async (sql: string, parameters: unknown[]) => {
      if (isBroken) {
        // Releasing the connection closes it, which rolls back.
        if (sql === "rollback") return { command: "ROLLBACK", rowCount: 0, rows: [] };
        throw new StoreOutage(new Error("the connection to the store broke"));
      }
      if (sql === "begin") isInTransaction = true;
      const run = () => {
        if (this.isDirect) return client.query({ name: statementName(sql), text: sql, values: parameters });
        if (sql === "begin") return client.query(this.limitedBegin());
        return isInTransaction ? client.query(sql, parameters) : this.queryLimited(client, sql, parameters);
      };
      try {
        // A transaction is repeated as a whole, by who began it.
        return await (isInTransaction ? run() : repeatConflicts(run));
      } catch (failure) {
        if (this.isDirect && says(failure, states.unknownStatement)) {
          this.findPooler();
          return await this.queryLimited(client, sql, parameters);
        }
        isBroken = !(failure instanceof pg.DatabaseError) || says(failure, states.connectionEnds);
        const wasDemoted = says(failure, states.readOnly) && this.use === "writes";
        if (wasDemoted) {
          isBroken = true;
          this.use = "none";
        }
        if (wasDemoted || (isBroken && this.hosts.length > 1)) this.search().catch(() => {});
        throw toOutage(failure);
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
    if (this.use === "none") await this.search();
    else if (this.use === "reads") this.searchAgain();
    else await this.searching;
    try {
      return await this.verifiedClient();
    } catch (failure) {
      const mayBeElsewhere = this.hosts.length > 1 && !isPoolExhausted(failure);
      if (isRefusedSetting(failure)) {
        this.findPooler();
      } else if (failure === readOnly || mayBeElsewhere || (this.isUndecided() && isAboutTls(failure))) {
        await this.search();
      } else throw failure;
      return this.verifiedClient();
    }
  }

  /** Whether a host may be reached with TLS and without. */
  private isUndecided(): boolean {
    return this.hosts.some((ways) => ways.length > 1);
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
    const isUnverifiable = !this.isDirect && this.hosts.length === 1;
    if (this.verified.has(client) || isUnverifiable) return client;
    try {
      if (this.use !== "reads" && !(await acceptsWrites(client))) throw readOnly;
      this.verified.add(client);
      this.hasConnected = true;
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

  /** While there are only reads, looks every second for a host that accepts writes. No read waits for it. */
  private searchAgain(): void {
    if (performance.now() - this.searchedAtMs > searchEveryMs) this.search().catch(() => {});
  }

  /** Chooses the host of the pool, and drops the connections to every other. Throws if there is none. */
  private search(): Promise<void> {
    this.searching ??= findHost(this.hosts, this.way)
      .then(
        ({ way, use }) => this.lead(way, use),
        (failure) => {
          this.lead(this.way, "none");
          throw failure;
        },
      )
      .finally(() => {
        this.searching = undefined;
        this.searchedAtMs = performance.now();
      });
    return this.searching;
  }

  private lead(way: Way, use: Use): void {
    recordOutage("writes", use === "reads");
    if (way === this.way && use === this.use) return;
    const where = { host: new URL(way.address).host };
    if (use === "reads") log().warn(where, "no host of the store accepts writes; it is only read");
    else if (this.use === "reads" && use === "writes") log().warn(where, "the store accepts writes again");
    else if (way.address !== this.way.address && this.hasConnected)
      log().warn(where, "the store is at another host now");
    this.way = way;
    this.use = use;
    this.replacePool();
  }

  /** Behind a pooler we own a connection only for a transaction, so the timeouts are set in each of them. */
  private limitedBegin(): string {
    const limits = Object.entries(this.limits).map(([name, ms]) => `; set local ${name} = ${ms}`);
    return `begin${limits.join("")}`;
  }

  /** Runs a statement in its own transaction. Its three commands are pipelined, so they take no longer than one. */
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
      ...connectionOptions(this.way),
      ...(this.isDirect ? this.limits : { pipeline: true }),
      max: this.options.connections,
      maxLifetimeSeconds: lifetimeSeconds,
      idleTimeoutMillis: 0, // they end by their age: a new one costs the server more than many queries
      query_timeout: this.options.queryTimeoutMs,
    });
  }
}

function makePool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options);
  // Without a listener, a connection that breaks would end the process.
  pool.on("error", (failure: NodeJS.ErrnoException) =>
    log().warn({ code: failure.code }, "a store connection broke"),
  );
  pool.on("connect", (client) => {
    client.on("error", () => {});
    warnOfExposure((client as pg.Client).connection.stream as Socket);
  });
  return pool;
}

let hasWarned = false;

/** Warns once if what we ask the store, and what it answers, can be read on its way. */
function warnOfExposure(socket: Socket): void {
  const { remoteAddress } = socket;
  if (hasWarned || socket instanceof TLSSocket || !remoteAddress || privateNetworks.has(remoteAddress))
    return;
  hasWarned = true;
  log().warn(
    "the store is neither on this machine nor in a private network, and connections to it are not encrypted: set sslmode=verify-full, or require at least, in DATABASE_URL",
  );
}

/** A new connection was to accept writes, and does not. */
const readOnly = new Error("the store accepts no writes");

/** Whether a transaction may write: not on a standby, and not where the database is read-only. */
async function acceptsWrites(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  return rows[0]?.transaction_read_only === "off";
}

/** What a host that accepts no writes has: the age of its newest transaction in seconds, and how far it has read. */
type ReadOnlyHost = { way: Way; seconds: number | null; bytes: number | null };

/** A primary that is read-only is never behind. */
const readAge = `SELECT
  CASE WHEN pg_is_in_recovery() THEN extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8 ELSE 0 END AS seconds,
  CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 ELSE 'Infinity' END AS bytes`;

/**
 * The first of these hosts to say that it accepts writes. If none does within the time of a connection, the most
 * advanced of those that can be read, if possible the current one: its replay is at most a minute old, or each of several hosts has answered, so that
 * none of them writes what it could miss. Throws if there is none.
 */
async function findHost(
  hosts: readonly Way[][],
  current: Way | undefined,
): Promise<{ way: Way; use: "writes" | "reads" }> {
  const readers: ReadOnlyHost[] = [];
  const asked = hosts.map(async (ways) => {
    const { client, way } = await connectTo(ways);
    try {
      if (await acceptsWrites(client)) return way;
      const { rows } = await client.query<Omit<ReadOnlyHost, "way">>(readAge);
      for (const row of rows) readers.push({ way, ...row });
    } finally {
      client.end().catch(() => {});
    }
    throw readOnly;
  });
  return Promise.any(asked).then(
    (way) => ({ way, use: "writes" }),
    (cause: AggregateError) => {
      const haveAllAnswered = hosts.length > 1 && readers.length === hosts.length;
      const isRecent = ({ seconds }: ReadOnlyHost) =>
        haveAllAnswered || (seconds !== null && seconds <= oldestReplaySeconds);
      const recent = readers.filter(isRecent).sort((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0));
      const reader =
        recent.find(({ way, bytes }) => way === current && bytes === recent[0]?.bytes) ?? recent[0];
      if (reader) return { way: reader.way, use: "reads" };
      if (hosts.length === 1 && cause.errors[0] !== readOnly) throw cause.errors[0];
      throw new Error("no host of the store accepts writes, and none can be read", { cause });
    },
  );
}

/** Connects in the first way that the host takes. A host that is away is not asked again in the other. */
async function connectTo(ways: Way[]): Promise<{ client: pg.Client; way: Way }> {
  for (const [at, way] of ways.entries()) {
    const client = new pg.Client({ ...connectionOptions(way), query_timeout: connectTimeoutMs });
    client.on("error", () => {});
    try {
      await client.connect();
      return { client, way };
    } catch (failure) {
      client.end().catch(() => {});
      if (at === ways.length - 1 || !isAboutTls(failure)) throw failure;
    }
  }
  throw new Error("unreachable");
}

/** The server refused, and may not with TLS, or without it. */
function isAboutTls(failure: unknown): boolean {
  const { code = "", message } = failure as NodeJS.ErrnoException;
  return says(failure, states.notAuthorized) || /SSL|TLS|CERT/i.test(`${code} ${message}`);
}

/** The way to the store's host that accepts writes. Throws if none of several does. */
async function writableWay(url: string): Promise<Way> {
  const hosts = (parsePostgresAddress(url) ?? [url]).map(waysTo);
  const [[way]] = hosts as [[Way]];
  if (hosts.flat().length === 1) return way;
  const found = await findHost(hosts, undefined);
  if (found.use === "reads") throw readOnly;
  return found.way;
}

/** The address of the store's host that accepts writes. Throws if none of several does. */
export async function writableAddress(url: string): Promise<string> {
  return (await writableWay(url)).address;
}

/** At most two connections to the host that accepts writes, without a limit on the time of a query. */
export async function openUnlimitedPool(url: string): Promise<pg.Pool> {
  return makePool({ ...connectionOptions(await writableWay(url)), max: 2 });
}

/** Common options of all connections. 64-bit integers are returned as numbers. */
function connectionOptions({ address, ssl }: Way): pg.PoolConfig {
  const url = new URL(address);
  for (const name of ["sslmode", "sslrootcert", "sslcert", "sslkey"]) url.searchParams.delete(name);
  if (!ssl) url.searchParams.delete("sslnegotiation");
  return {
    connectionString: url.href,
    ssl,
    enableChannelBinding: url.searchParams.get("channel_binding") === "require",
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

/** What PostgreSQL's SQLSTATEs say (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const states = {
  /** A pooler leads each transaction to another server, without ours knowing. */
  unknownStatement: /^(26000|42P05)$/,
  /** No entry of pg_hba.conf, perhaps for this encryption, or no such user or password. */
  notAuthorized: /^28/,
  /** The server is, or is becoming, a standby. */
  readOnly: /^25006$/,
  /** Connection exceptions, server start and shutdown, idle-in-transaction timeout. */
  connectionEnds: /^(08|57P0|25P03)/,
  /** Not our mistake: connections, read-only and idle transactions, conflicts, resources, locks, a shutdown. */
  outage: /^(08|25006|25P0[34]|40|53|55P03|57|58)/,
};

const says = (failure: unknown, state: RegExp) =>
  failure instanceof pg.DatabaseError && state.test(failure.code ?? "");

/** A failure of the network is an outage, and so are some of the server. A value that cannot be sent is our mistake. */
function toOutage(failure: unknown): unknown {
  const isMistake = failure instanceof pg.DatabaseError && !says(failure, states.outage);
  return isMistake || failure instanceof TypeError || failure instanceof RangeError
    ? failure
    : new StoreOutage(failure);
}
