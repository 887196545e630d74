import { exchangeWithinMs } from "@/lib/config/limits";
import type { Connection } from "@/lib/server/connections";

/**
 * Gives every exchange a deadline, from the request's head to the last byte that the client reads. Node has none for a
 * client that never reads.
 */
export function limitRequestDuration(
  connections: Iterable<Connection>,
  withinMs = exchangeWithinMs,
  lookEveryMs = 5000,
): void {
  const look = () => {
    const overdueMs = performance.now() - withinMs;
    for (const { socket, latest } of connections) {
      // Without a reset, the system would keep offering the rest of the response.
      if (latest && latest.begunAtMs < overdueMs) socket.resetAndDestroy();
    }
  };
  setInterval(look, lookEveryMs).unref();
}
