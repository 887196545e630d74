import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { exchangeBounds, maxConnections, maxUnreadBytes } from "@/lib/config/limits";
import { maxOpenFiles } from "@/lib/config/open-files";
import { groupAddress } from "@/lib/rate-limit/client-address";
import { ResumedConnection } from "@/lib/server/resumed-connection";

const reservedFiles = 256; // for the store, the log and other files

/** The connections of a network: those that are open, and of these the idle ones, the longest idle one first. */
type Network = { name: string; open: Set<Socket>; idle: Set<Socket> };

/** Its latest exchange until the response is sent. Earlier ones are sent first (RFC 9112 §9.3.2). */
type Connection = { network: Network; latest?: Exchange | undefined };

type Exchange = {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  begunAtMs: number;
  /** What the client had been sent on this connection before. */
  bytesBefore: number;
};

/**
 * The open connections of a server, limited and shared by network: an IPv4 address or an IPv6 /48. At the limit, the largest
 * network with idle ones loses its longest idle one. One with an incomplete head counts as idle, and so does one whose
 * client leaves its answer unread. If all are in work, the largest network loses its oldest; if all networks are as small as
 * the newcomer's, the oldest ends whose body is not there yet. A network with more than half of all takes no more from others.
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  private readonly networks = new Map<string, Network>();
  /** The networks by how many connections are open of each: a flood of new ones must not make each walk through all. */
  private readonly bySize: Set<Network>[] = [];
  private readonly max = Math.min(maxConnections, Math.max(1, maxOpenFiles() - reservedFiles));

  constructor(
    server: Server,
    private readonly bounds = { ...exchangeBounds, unreadBytes: maxUnreadBytes },
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
    // Behind a proxy all connections are the proxy's.
    const name = groupAddress(socket.remoteAddress ?? "unknown", 48);
    if (this.open.size >= this.max) {
      const leaving = this.chooseLeaving(name);
      if (!leaving) {
        socket.destroy();
        return;
      }
      this.forget(leaving);
      leaving.destroy();
    }
    const network = this.networks.get(name) ?? { name, open: new Set(), idle: new Set() };
    this.networks.set(name, network);
    this.open.set(socket, { network });
    this.resize(network, () => network.open.add(socket));
    network.idle.add(socket);
    socket.once("close", () => this.forget(socket));
  }

  /** The connection that ends for one of this network; none if the new one is refused. */
  private chooseLeaving(newcomer: string): Socket | undefined {
    const [largest] = this.bySize.at(-1) ?? [];
    const mostIdle = this.largestIdle();
    const own = this.networks.get(newcomer)?.open.size ?? 0;
    const mayGrow = own <= this.max / 2 || mostIdle?.name === newcomer;
    if (mostIdle && mayGrow) return mostIdle.idle.values().next().value;
    // Those that opened first have most likely worked longest.
    if (largest && largest.open.size > own + 1) return largest.open.values().next().value;
    return mayGrow ? this.oldestIncomplete() : undefined;
  }

  private largestIdle(): Network | undefined {
    for (let size = this.bySize.length - 1; size > 0; size--)
      for (const network of this.bySize[size] ?? []) if (network.idle.size > 0) return network;
    return undefined;
  }

  private resize(network: Network, change: () => unknown): void {
    this.bySize[network.open.size]?.delete(network);
    change();
    const { size } = network.open;
    if (size > 0) {
      this.bySize[size] ??= new Set();
      this.bySize[size].add(network);
    }
    while (this.bySize.length > 0 && !this.bySize.at(-1)?.size) this.bySize.pop();
  }

  private oldestIncomplete(): Socket | undefined {
    for (const [socket, { latest }] of this.open) if (latest?.incoming.complete === false) return socket;
    return undefined;
  }

  private forget(socket: Socket): void {
    const { network } = this.open.get(socket) ?? {};
    if (!network) return;
    this.open.delete(socket);
    network.idle.delete(socket);
    this.resize(network, () => network.open.delete(socket));
    if (network.open.size === 0) this.networks.delete(network.name);
  }

  /**
   * Notes that a request has arrived. Its connection is in work from when the responses before it are read until its own is
   * handed over: a client that leaves it unread is idle.
   */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming;
    const connection = this.open.get(socket);
    if (!connection) return;
    const { idle } = connection.network;
    const [begunAtMs, bytesBefore] = [performance.now(), handedOver(socket)];
    connection.latest = { incoming, outgoing, begunAtMs, bytesBefore };
    if (outgoing.socket) idle.delete(socket);
    else outgoing.once("socket", () => idle.delete(socket));
    outgoing.on("prefinish", () => {
      if (this.open.has(socket)) idle.add(socket);
    });
    outgoing.on("close", () => {
      if (connection.latest?.outgoing === outgoing) connection.latest = undefined;
    });
  }

  /**
   * Every exchange has a deadline, from the request's head to the last byte that the client reads, which a slow client moves
   * by reading on. The bytes that clients do not read are bounded in all: beyond it, exchanges of the networks with most of
   * them end, the oldest first. Node has neither.
   */
  private endOverdue(): void {
    const { withinMs, bytesPerSecond, unreadBytes } = this.bounds;
    const nowMs = performance.now();
    let unread = 0;
    const unreadOf = new Map<Network, number>();
    const inWork: { socket: Socket; network: Network; begunAtMs: number; isOverdue: boolean }[] = [];
    for (const [socket, { network, latest }] of this.open) {
      if (!latest) continue;
      const { begunAtMs, bytesBefore } = latest;
      const readingMs = (1000 * (handedOver(socket) - bytesBefore)) / bytesPerSecond;
      inWork.push({ socket, network, begunAtMs, isOverdue: begunAtMs + withinMs + readingMs <= nowMs });
      unread += socket.writableLength;
      unreadOf.set(network, (unreadOf.get(network) ?? 0) + socket.writableLength);
    }
    const held = (network: Network) => unreadOf.get(network) ?? 0;
    inWork.sort((one, other) => held(other.network) - held(one.network) || one.begunAtMs - other.begunAtMs);
    for (const { socket, isOverdue } of inWork) {
      const holdsTooMuch = unread > unreadBytes && socket.writableLength > 0;
      if (!isOverdue && !holdsTooMuch) continue;
      unread -= socket.writableLength;
      // Without a reset, the system would keep offering the rest of the response.
      socket.resetAndDestroy();
    }
  }
}

/** How many bytes the system has taken for the client. */
const handedOver = ({ bytesWritten, writableLength }: Socket) => bytesWritten - writableLength;
