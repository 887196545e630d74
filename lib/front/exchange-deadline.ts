import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { exchangeWithinMs } from "@/lib/settings/limits";

type Exchange = { outgoing: ServerResponse; begunAtMs: number };

/**
 * Gives every exchange a deadline, from the head of the request to the last byte that the client took of its answer.
 * Node has deadlines for what it receives and for the pauses, none for a client that asks and never reads.
 */
export function limitExchanges(server: Server, withinMs = exchangeWithinMs, lookEveryMs = 5000): void {
  const latest = new Map<Socket, Exchange | undefined>();
  server.on("connection", (socket: Socket) => {
    latest.set(socket, undefined);
    socket.once("close", () => latest.delete(socket));
  });
  const begin = ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    if (latest.has(socket)) latest.set(socket, { outgoing, begunAtMs: performance.now() });
  };
  server.on("request", begin).on("checkExpectation", begin);
  const look = () => {
    const overdueMs = performance.now() - withinMs;
    for (const [socket, exchange] of latest) {
      const isOverdue = exchange && !exchange.outgoing.writableFinished && exchange.begunAtMs < overdueMs;
      // Without a reset the system would go on offering the rest of the answer.
      if (isOverdue) socket.resetAndDestroy();
    }
  };
  setInterval(look, lookEveryMs).unref();
}
