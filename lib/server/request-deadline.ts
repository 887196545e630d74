import { exchangeWithinMs } from "@/lib/config/limits";
import type { Connection } from "@/lib/server/connections";

/**
 * Gives every exchange a deadline, from the head of the request to the last byte that the client took of its answer.
 * Node has deadlines for what it receives and for the pauses, none for a client that asks and never reads.
 */
export function limitRequestDuration(
  connections: Iterable<Connection>,
  withinMs = exchangeWithinMs,
  lookEveryMs = 5000,
): void {
  const look = () => {
    const overdueMs = performance.now() - withinMs;
    for (const { socket, latest } of connections) {
      // Without a reset the system would go on offering the rest of the answer.
      if (latest && latest.begunAtMs < overdueMs) socket.resetAndDestroy();
    }
  };
  setInterval(look, lookEveryMs).unref();
}
