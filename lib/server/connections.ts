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
  /** Each with its latest exchange until the response is sent. Earlier ones are sent first (RFC 9112 §9.3.2). */
  private readonly open = new Map<
    Socket,
    { latest?: { outgoing: ServerResponse; begunAtMs: number } | undefined }
  >();
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
    return this.open.get(socket)?.latest?.outgoing;
  }

  private admit(socket: Socket): void {
    if (socket instanceof ResumedConnection) this.forget(socket.original);
    if (this.open.size >= this.max) {
      const [leaving] = this.idle;
      if (!leaving) {
        socket.destroy();
        return;
      }
      this.forget(leaving);
      leaving.destroy();
    }
    this.open.set(socket, {});
    this.idle.add(socket);
    socket.once("close", () => this.forget(socket));
  }

  private forget(socket: Socket): void {
    this.open.delete(socket);
    this.idle.delete(socket);
  }

  /** Notes that a request has arrived: its connection is idle again when its response is sent. */
  begin({ socket }: IncomingMessage, outgoing: ServerResponse): void {
    const connection = this.open.get(socket);
    if (!connection) return;
    connection.latest = { outgoing, begunAtMs: performance.now() };
    this.idle.delete(socket);
    outgoing.on("close", () => {
      if (connection.latest?.outgoing !== outgoing) return;
      connection.latest = undefined;
      if (this.open.has(socket)) this.idle.add(socket);
    });
  }

  /**
   * Every exchange has a deadline, from the request's head to the last byte that the client reads, and the bytes that
   * clients do not read are bounded in all: beyond it, the oldest exchanges end. Node has neither.
   */
  private endOverdue(): void {
    const { withinMs, unreadBytes } = this.bounds;
    const overdueMs = performance.now() - withinMs;
    const inWork = [...this.open].flatMap(([socket, { latest }]) =>
      latest ? [{ socket, begunAtMs: latest.begunAtMs }] : [],
    );
    let unread = 0;
    for (const { socket } of inWork) unread += socket.writableLength;
    for (const { socket, begunAtMs } of inWork.sort((one, other) => one.begunAtMs - other.begunAtMs)) {
      const holdsTooMuch = unread > unreadBytes && socket.writableLength > 0;
      if (begunAtMs >= overdueMs && !holdsTooMuch) continue;
      unread -= socket.writableLength;
      // Without a reset, the system would keep offering the rest of the response.
      socket.resetAndDestroy();
    }
  }
}
