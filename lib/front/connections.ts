import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { groupAddress } from "@/lib/api/client-address";
import { connectionBounds } from "@/lib/settings/limits";

const keptFiles = 256; // for the store, the log, the pages' process, and all else that is no client

/** One connection, and its latest exchange while the answer has not left. Those before it leave first (RFC 9112 §9.3.2). */
export type Connection = {
  readonly socket: Socket;
  latest: { readonly outgoing: ServerResponse; readonly begunAtMs: number } | undefined;
};

/** The open connections of a server. */
export class Connections {
  private readonly bySocket = new Map<Socket, Connection>();

  constructor(server: Server) {
    const begin = ({ socket }: IncomingMessage, outgoing: ServerResponse) => this.begin(socket, outgoing);
    server
      .on("connection", (socket: Socket) => this.add(socket))
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

  private add(socket: Socket): void {
    this.bySocket.set(socket, { socket, latest: undefined });
    socket.once("close", () => this.bySocket.delete(socket));
  }

  private begin(socket: Socket, outgoing: ServerResponse): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.latest = { outgoing, begunAtMs: performance.now() };
    outgoing.once("close", () => {
      if (connection.latest?.outgoing === outgoing) connection.latest = undefined;
    });
  }
}
/**
 * Bounds the connections of a server: for all together below what the system lets us open, so that one too many is
 * closed at once and not left hanging, and for each address.
 *
 * @param mostPerAddress - `undefined` where the peer is a proxy, and so everybody's address
 */
export function limitConnections(server: Server, mostPerAddress: number | undefined): void {
  server.maxConnections = Math.min(connectionBounds.most, Math.max(1, openFiles() - keptFiles));
  if (!mostPerAddress) return;
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = groupAddress(socket.remoteAddress ?? "");
    const count = (open.get(address) ?? 0) + 1;
    if (count > mostPerAddress) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
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
