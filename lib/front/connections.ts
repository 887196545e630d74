import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { groupAddress } from "@/lib/api/client-address";
import { connectionBounds } from "@/lib/settings/limits";

const keptFiles = 256; // for the store, the log, the pages' process, and all else that is no client

/** Connections that share a bound. */
class Pool {
  readonly idle = new Set<Connection>();
  open = 0;
  // It stays where it is: from its beginning, a set is read through all that was deleted there.
  private longestIdle = this.idle.values();

  constructor(private readonly max: number) {}

  get isFull(): boolean {
    return this.open >= this.max;
  }

  /** The connection that has been idle longest, which is then to leave. */
  nextToLeave(): Connection | undefined {
    const next = this.longestIdle.next();
    if (!next.done) return next.value;
    this.longestIdle = this.idle.values();
    return this.longestIdle.next().value;
  }
}

/** One connection, and its latest exchange while the answer has not left. Those before it leave first (RFC 9112 §9.3.2). */
export type Connection = {
  readonly socket: Socket;
  readonly address: string;
  /** That of its address, where each has one, and that of all. */
  readonly pools: readonly Pool[];
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
    const connection = { socket, address, pools, latest: undefined };
    this.bySocket.set(socket, connection);
    for (const pool of pools) {
      pool.open++;
      pool.idle.add(connection);
    }
    socket.once("close", () => this.forget(connection));
  }

  private makeRoom(pool: Pool): boolean {
    if (!pool.isFull) return true;
    const leaving = pool.nextToLeave();
    if (!leaving) return false;
    this.forget(leaving);
    leaving.socket.destroy();
    return true;
  }

  private forget(connection: Connection): void {
    if (!this.bySocket.delete(connection.socket)) return;
    for (const pool of connection.pools) {
      pool.open--;
      pool.idle.delete(connection);
    }
    if (this.byAddress.get(connection.address)?.open === 0) this.byAddress.delete(connection.address);
  }

  private begin(socket: Socket, outgoing: ServerResponse): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.latest = { outgoing, begunAtMs: performance.now() };
    for (const { idle } of connection.pools) idle.delete(connection);
    outgoing.once("close", () => {
      if (connection.latest?.outgoing !== outgoing) return;
      connection.latest = undefined;
      if (!this.bySocket.has(socket)) return;
      for (const { idle } of connection.pools) idle.add(connection);
    });
  }
}

function maxConnections(): number {
  return Math.min(connectionBounds.most, Math.max(1, openFiles() - keptFiles));
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
