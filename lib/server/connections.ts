import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { exchangeWithinMs, maxConnections, maxUnreadBytes } from "@/lib/config/limits";
import { maxOpenFiles } from "@/lib/config/open-files";
import { ResumedConnection } from "@/lib/server/resumed-connection";

const reservedFiles = 256; // for the store, the log and other files

/**
 * The open connections of a server, limited. At the limit, the longest idle connection is closed; one with an incomplete
 * head counts as idle. If every connection has a request in work, the new one is refused.
 */
export class Connections {
  /** The longest idle one first. */
  private readonly idle = new Set<Socket>();
  /** The latest exchange of each other one until its response is sent, the oldest first (RFC 9112 §9.3.2). */
  private readonly inWork = new Map<Socket, { outgoing: ServerResponse; begunAtMs: number }>();
  private readonly max = Math.min(maxConnections, Math.max(1, maxOpenFiles() - reservedFiles));

  constructor(
    server: Server,
    private readonly bounds = { withinMs: exchangeWithinMs, unreadBytes: maxUnreadBytes },
    lookEveryMs = 1000,
  ) {
    server.on("connection", (socket: Socket) => this.admit(socket));
    setInterval(() => this.endOverdue(), lookEveryMs).unref();
  }

  /** The response to the latest request of this connection, until it is sent. */
  latestAnswer(socket: Socket): ServerResponse | undefined {
    return this.inWork.get(socket)?.outgoing;
  }

  private admit(socket: Socket): void {
    if (socket instanceof ResumedConnection) this.forget(socket.original);
    if (this.idle.size + this.inWork.size >= this.max) {
      const [leaving] = this.idle;
      if (!leaving) {
        socket.destroy();
        return;
      }
      this.forget(leaving);
      leaving.destroy();
    }
    this.idle.add(socket);
    socket.once("close", () => this.forget(socket));
  }

  private forget(socket: Socket): void {
    this.inWork.delete(socket);
    this.idle.delete(socket);
  }

  /** Notes that a request has arrived: its connection is idle again when its response is sent. */
  begin({ socket }: IncomingMessage, outgoing: ServerResponse): void {
    if (!this.idle.has(socket) && !this.inWork.has(socket)) return;
    this.idle.delete(socket);
    this.inWork.delete(socket); // a map keeps the place of what it has
    this.inWork.set(socket, { outgoing, begunAtMs: performance.now() });
    outgoing.on("close", () => {
      if (this.latestAnswer(socket) !== outgoing) return;
      this.inWork.delete(socket);
      this.idle.add(socket);
    });
  }

  /**
   * Every exchange has a deadline, from the request's head to the last byte that the client reads, and the bytes that
   * clients do not read are bounded in all: beyond it, the oldest exchanges end. Node has neither.
   */
  private endOverdue(): void {
    const { withinMs, unreadBytes } = this.bounds;
    const overdueMs = performance.now() - withinMs;
    let unread = 0;
    for (const { writableLength } of this.inWork.keys()) unread += writableLength;
    for (const [socket, { begunAtMs }] of this.inWork) {
      const holdsTooMuch = unread > unreadBytes && socket.writableLength > 0;
      if (begunAtMs >= overdueMs && !holdsTooMuch) continue;
      unread -= socket.writableLength;
      // Without a reset, the system would keep offering the rest of the response.
      socket.resetAndDestroy();
    }
  }
}
