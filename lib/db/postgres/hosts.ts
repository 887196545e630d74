import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import { parsePostgresAddress } from "@/lib/config/postgres-address";
import { connectionOptions, connectTimeoutMs, makePool } from "@/lib/db/postgres/connection";
import { isAboutTls, isPoolExhausted, says, states } from "@/lib/db/postgres/failures";
import { type Way, waysTo } from "@/lib/db/postgres/tls";
import { recordOutage } from "@/lib/runtime/dependency-outages";
import { log } from "@/lib/runtime/log";

const searchEveryMs = 1000; // while the store is only read
const oldestReplaySeconds = 60; // for so long, an ended session can read as live

/** Whether connections lead to a host that accepts writes, to one that is only read, or to none. */
type Use = "writes" | "reads" | "none";

/** The ways to each host now; undefined while a file of theirs is not there, or not written to its end. */
function readAnew(readUrl: () => string): Way[][] | undefined {
  try {
    return hostsOf(readUrl());
  } catch {
    return undefined;
  }
}

/** The ways to each host of an address. */
const hostsOf = (url: string) => (parsePostgresAddress(url) ?? [url]).map(waysTo);

/**
 * The hosts of a store, and the one to which connections lead: the host that accepts writes, or while there is none, one
 * whose data are recent enough to be read.
 */
export class Hosts {
  private hosts: Way[][];
  /** The way that connections take. Before the first one it is a guess. */
  way: Way;
  use: Use = "writes";
  hasConnected = false;
  private searching: Promise<void> | undefined;
  private searchedAtMs = 0;

  /** @param onMove - drops the connections to the host before */
  constructor(
    private readonly readUrl: () => string,
    private readonly onMove: () => void,
  ) {
    this.hosts = hostsOf(readUrl());
    [[this.way]] = this.hosts as [[Way]];
    if (this.isUndecided()) this.use = "none"; // so that the first connection finds what the host takes
  }

  get areSeveral(): boolean {
    return this.hosts.length > 1;
  }

  /** Waits for a host to connect to. While there are only reads, it is looked for another every second, and no read waits. */
  async find(): Promise<void> {
    if (this.use === "none") await this.search();
    else if (this.use === "writes") await this.searching;
    else if (performance.now() - this.searchedAtMs >= searchEveryMs) this.search().catch(() => {});
  }

  /** Whether a connection that failed may succeed after a search. */
  mayHelp(failure: unknown): boolean {
    const mayBeElsewhere = this.areSeveral && !isPoolExhausted(failure);
    return (
      failure instanceof AcceptsNoWrites ||
      mayBeElsewhere ||
      (isAboutTls(failure) && (this.isUndecided() || this.readAgain()))
    );
  }

  /**
   * Whether the password, a certificate or anything else of the ways has been replaced in its file. Providers rotate them, Amazon's
   * RDS each week: with those of its start, a service is away until someone starts it again (londonaicentre/FLIP#556,
   * mattermost/mattermost-operator#370).
   */
  private readAgain(): boolean {
    const hosts = readAnew(this.readUrl);
    if (!hosts || isDeepStrictEqual(hosts, this.hosts)) return false;
    log().info("the address of the store, or a certificate, was read anew");
    this.hosts = hosts;
    return true;
  }

  /** Looks for another host after a statement if this one accepts no writes any more, or its connection broke. */
  leave(failure: unknown, isBroken: boolean): { isBroken: boolean } {
    const wasDemoted = says(failure, states.readOnly) && this.use === "writes";
    if (wasDemoted) this.use = "none";
    if (wasDemoted || (isBroken && this.areSeveral)) this.search().catch(() => {});
    return { isBroken: isBroken || wasDemoted };
  }

  /** Chooses the host, and drops the connections to every other. Throws if there is none. */
  search(): Promise<void> {
    if (!this.searching) this.readAgain();
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

  /** Whether a host may be reached with TLS and without. */
  private isUndecided(): boolean {
    return this.hosts.some((ways) => ways.length > 1);
  }

  private lead(way: Way, use: Use): void {
    recordOutage("writes", use === "reads");
    if (way === this.way && use === this.use) return;
    const where = { host: hostIn(way) };
    if (use === "reads") log().warn(where, "no host of the store accepts writes; it is only read");
    else if (this.use === "reads" && use === "writes") log().warn(where, "the store accepts writes again");
    else if (hostIn(way) !== hostIn(this.way) && this.hasConnected)
      log().warn(where, "the store is at another host now");
    this.way = way;
    this.use = use;
    this.onMove();
  }
}

function hostIn({ address }: Way): string {
  const { host, searchParams } = new URL(address);
  return searchParams.get("host") ?? host;
}

/** A new connection was to accept writes, and does not. */
export class AcceptsNoWrites extends Error {
  constructor() {
    super("the store accepts no writes");
  }
}

/** Whether a transaction may write: not on a standby, and not where the database is read-only. */
export async function acceptsWrites(client: pg.ClientBase): Promise<boolean> {
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
 * advanced of those that can be read, if possible the current one: its replay is at most a minute old, or each of several
 * hosts has answered, so that none of them writes what it could miss. Throws if there is none.
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
      // Aurora's reader refuses such functions, and an engine that is not PostgreSQL itself may have none.
      const { rows } = await client.query<Omit<ReadOnlyHost, "way">>(readAge).catch(() => ({ rows: [] }));
      for (const row of rows) readers.push({ way, ...row });
    } finally {
      client.end().catch(() => {});
    }
    throw new AcceptsNoWrites();
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
      if (hosts.length === 1 && !(cause.errors[0] instanceof AcceptsNoWrites)) throw cause.errors[0];
      throw new Error("no host of the store accepts writes, and none can be read", { cause });
    },
  );
}

/** Connects in the first way that the host takes. A host that is away is not asked again in the other. */
async function connectTo(ways: Way[]): Promise<{ client: pg.Client; way: Way }> {
  let refused: unknown;
  for (const way of ways) {
    const client = new pg.Client({ ...connectionOptions(way), query_timeout: connectTimeoutMs });
    client.on("error", () => {});
    try {
      await client.connect();
      return { client, way };
    } catch (failure) {
      client.end().catch(() => {});
      if (!isAboutTls(failure)) throw failure;
      refused = failure;
    }
  }
  throw refused;
}

const readsAsked = 8;

/**
 * Whether one address, which takes writes, leads reads to a standby, which may lack what was just written, as Pgpool-II does
 * before a pair unless it is told otherwise (bitnami/charts#2483, pgpool/pgpool2#119). Each connection is led by chance.
 */
export async function readsStandby(url: string): Promise<boolean> {
  const [ways, ...others] = hostsOf(url);
  for (let n = 0; ways && others.length === 0 && n < readsAsked; n++) {
    const { client } = await connectTo(ways);
    // Unlike SHOW, it is a read to every pooler, and none takes its function for one that writes.
    const asked = client.query("SELECT current_setting('transaction_read_only') AS answer");
    const { rows } = await asked.finally(() => client.end().catch(() => {}));
    if (rows[0]?.answer === "on") return true;
  }
  return false;
}

/** The way to the store's host that accepts writes. Throws if none of several does. */
async function writableWay(url: string): Promise<Way> {
  const hosts = hostsOf(url);
  const [[way]] = hosts as [[Way]];
  if (hosts.flat().length === 1) return way;
  const found = await findHost(hosts, undefined);
  if (found.use === "reads") throw new AcceptsNoWrites();
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
