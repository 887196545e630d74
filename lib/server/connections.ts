import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { connectionBounds } from "@/lib/config/limits";
import { groupAddress } from "@/lib/rate-limit/client-address";

const reservedFiles = 256; // for the store, the log, the pages' process, and all else that is no client

/**
 * An entry in a ring of idle connections, whose start holds none: after it is the longest idle one. In a Set, finding the
 * first takes longer the more were deleted before it, and an iterator that stays there keeps all of them.
 */
class IdleEntry {
  private before: IdleEntry = this;
  private after: IdleEntry = this;

  constructor(readonly connection?: Connection) {}

  get next(): IdleEntry {
    return this.after;
  }

  /** Moves to the end of the ring with this start. */
  moveToEnd(start: IdleEntry): void {
    this.remove();
    this.before = start.before;
    this.after = start;
    start.before.after = this;
    start.before = this;
  }

  remove(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }
}

/** Connections that share a bound. */
class Pool {
  open = 0;
  readonly idle = new IdleEntry();

  constructor(private readonly max: number) {}

  get isFull(): boolean {
    return this.open >= this.max;
  }
}

/** One connection, and its latest exchange while the answer has not left. Those before it leave first (RFC 9112 §9.3.2). */
export type Connection = {
  readonly socket: Socket;
  readonly address: string;
  /** In the pool of its address, where each has one, and in that of all. */
  readonly entries: { readonly pool: Pool; readonly entry: IdleEntry }[];
  latest: { readonly outgoing: ServerResponse; readonly begunAtMs: number } | undefined;
};

/**
 * The open connections of a server, bounded for each address and for all together. Past a bound, the connection leaves
 * that has been idle longest: it waits for its next request, has sent nothing, or has sent a part of a head, as anybody
 * can without end. Where each has a request in work, the new one is refused, and none is left hanging.
 */
export class Connections {
  private readonly bySocket = new Map<Socket, Connection>();
  private readonly byAddress = new Map<string, Pool>();
  private readonly all = new Pool(maxConnections());

  /** @param maxPerAddress - `undefined` where the peer is a proxy, and so everybody's address */
  constructor(
    server: Server,
    private readonly maxPerAddress: number | undefined,
  ) {
    const begin = ({ socket }: IncomingMessage, outgoing: ServerResponse) => this.begin(socket, outgoing);
    server
      .on("connection", (socket: Socket) => this.admit(socket))
      .on("request", begin)
      .on("checkContinue", begin)
      .on("checkExpectation", begin);
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.bySocket.values();
  }

  /** The answer to the latest request of this connection, while it has not left. */
  latestAnswer(socket: Socket): ServerResponse | undefined {
    return this.bySocket.get(socket)?.latest?.outgoing;
  }

  private admit(socket: Socket): void {
    const address = groupAddress(socket.remoteAddress ?? "");
    const ofAddress = this.maxPerAddress && (this.byAddress.get(address) ?? new Pool(this.maxPerAddress));
    const pools = ofAddress ? [ofAddress, this.all] : [this.all];
    if (!pools.every((pool) => this.makeRoom(pool))) {
      socket.destroy();
      return;
    }
    if (ofAddress) this.byAddress.set(address, ofAddress);
    const connection: Connection = { socket, address, entries: [], latest: undefined };
    this.bySocket.set(socket, connection);
    for (const pool of pools) {
      pool.open++;
      connection.entries.push({ pool, entry: new IdleEntry(connection) });
    }
    markIdle(connection);
    socket.once("close", () => this.forget(connection));
  }

  private makeRoom(pool: Pool): boolean {
    if (!pool.isFull) return true;
    const leaving = pool.idle.next.connection;
    if (!leaving) return false;
    this.forget(leaving);
    leaving.socket.destroy();
    return true;
  }

  private forget(connection: Connection): void {
    if (!this.bySocket.delete(connection.socket)) return;
    for (const { pool, entry } of connection.entries) {
      pool.open--;
      entry.remove();
    }
    if (this.byAddress.get(connection.address)?.open === 0) this.byAddress.delete(connection.address);
  }

  private begin(socket: Socket, outgoing: ServerResponse): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.latest = { outgoing, begunAtMs: performance.now() };
    for (const { entry } of connection.entries) entry.remove();
    outgoing.once("close", () => {
      if (connection.latest?.outgoing !== outgoing) return;
      connection.latest = undefined;
      if (this.bySocket.has(socket)) markIdle(connection);
    });
  }
}

/** Makes a connection the newest of the idle ones. */
function markIdle({ entries }: Connection): void {
  for (const { pool, entry } of entries) entry.moveToEnd(pool.idle);
}

function maxConnections(): number {
  return Math.min(connectionBounds.max, Math.max(1, openFiles() - reservedFiles));
}

/** How many files this process may open; without a bound where the system does not say. */
function openFiles(): number {
  try {
    const [, files] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return files ? Number(files) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
