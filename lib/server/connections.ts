import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { connectionBounds } from "@/lib/config/limits";
import { groupAddress } from "@/lib/rate-limit/client-address";

const reservedFiles = 256; // for the store, the log and other files

/**
 * An entry in a ring of idle connections, after whose empty start comes the longest idle one. A Set would be slower:
 * finding its first entry takes longer with each entry deleted before it.
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

/** Connections that share a limit. */
class Pool {
  open = 0;
  readonly idle = new IdleEntry();

  constructor(private readonly max: number) {}

  get isFull(): boolean {
    return this.open >= this.max;
  }
}

/** A connection, and its latest exchange until the response is sent. Earlier ones are sent first (RFC 9112 §9.3.2). */
export type Connection = {
  readonly socket: Socket;
  readonly address: string;
  /** In the pool of its address, if addresses are limited, and in the pool of all. */
  readonly entries: { readonly pool: Pool; readonly entry: IdleEntry }[];
  latest: { readonly outgoing: ServerResponse; readonly begunAtMs: number } | undefined;
};

/**
 * The open connections of a server, limited per address and in total. At a limit, the longest idle connection is closed;
 * one with an incomplete head counts as idle. If every connection has a request in progress, the new one is refused.
 */
export class Connections {
  private readonly bySocket = new Map<Socket, Connection>();
  private readonly byAddress = new Map<string, Pool>();
  private readonly all = new Pool(Math.min(connectionBounds.max, Math.max(1, openFiles() - reservedFiles)));

  /** @param maxPerAddress - `undefined` if the peer is a proxy, whose address all clients share */
  constructor(
    server: Server,
    private readonly maxPerAddress: number | undefined,
  ) {
    server.on("connection", (socket: Socket) => this.admit(socket));
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.bySocket.values();
  }

  /** The response to the latest request of this connection, until it is sent. */
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

  /** Notes that a request has arrived: its connection is idle again when its response is sent. */
  begin({ socket }: IncomingMessage, outgoing: ServerResponse): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.latest = { outgoing, begunAtMs: performance.now() };
    for (const { entry } of connection.entries) entry.remove();
    outgoing.on("close", () => {
      if (connection.latest?.outgoing !== outgoing) return;
      connection.latest = undefined;
      if (this.bySocket.has(socket)) markIdle(connection);
    });
  }
}

function markIdle({ entries }: Connection): void {
  for (const { pool, entry } of entries) entry.moveToEnd(pool.idle);
}

/** Maximum open files of this process; infinite if the system does not report it. */
function openFiles(): number {
  try {
    const [, files] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return files ? Number(files) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
