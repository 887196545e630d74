import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { maxConnections } from "@/lib/config/limits";
import { maxOpenFiles } from "@/lib/config/open-files";
import { ResumedConnection } from "@/lib/server/resumed-connection";

const reservedFiles = 256; // for the store, the log and other files

/** A connection, and its latest exchange until the response is sent. Earlier ones are sent first (RFC 9112 §9.3.2). */
export type Connection = {
  readonly socket: Socket;
  idleSinceMs: number;
  latest: { readonly outgoing: ServerResponse; readonly begunAtMs: number } | undefined;
};

/**
 * The open connections of a server, limited. At the limit, the longest idle connection is closed; one with an incomplete
 * head counts as idle. If every connection has a request in work, the new one is refused.
 */
export class Connections {
  private readonly bySocket = new Map<Socket, Connection>();
  private readonly max = Math.min(maxConnections, Math.max(1, maxOpenFiles() - reservedFiles));

  constructor(server: Server) {
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
    if (socket instanceof ResumedConnection) this.bySocket.delete(socket.original);
    if (this.bySocket.size >= this.max) {
      const longestIdle = this.findLongestIdle();
      if (!longestIdle) {
        socket.destroy();
        return;
      }
      this.bySocket.delete(longestIdle);
      longestIdle.destroy();
    }
    this.bySocket.set(socket, { socket, idleSinceMs: performance.now(), latest: undefined });
    socket.once("close", () => this.bySocket.delete(socket));
  }

  /** Looks at all of them: only at the limit does a new connection cost that. */
  private findLongestIdle(): Socket | undefined {
    let longest: Connection | undefined;
    for (const connection of this) {
      if (connection.latest) continue;
      if (!longest || connection.idleSinceMs < longest.idleSinceMs) longest = connection;
    }
    return longest?.socket;
  }

  /** Notes that a request has arrived: its connection is idle again when its response is sent. */
  begin({ socket }: IncomingMessage, outgoing: ServerResponse): void {
    const connection = this.bySocket.get(socket);
    if (!connection) return;
    connection.latest = { outgoing, begunAtMs: performance.now() };
    outgoing.on("close", () => {
      if (connection.latest?.outgoing !== outgoing) return;
      connection.latest = undefined;
      connection.idleSinceMs = performance.now();
    });
  }
}
