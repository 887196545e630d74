import { exchangeWithinMs, maxUnreadBytes } from "@/lib/config/limits";
import type { Connection } from "@/lib/server/connections";

const bounds = { withinMs: exchangeWithinMs, unreadBytes: maxUnreadBytes };

/**
 * Gives every exchange a deadline, from the request's head to the last byte that the client reads, and bounds the bytes
 * that clients do not read, in all: beyond it, the oldest exchanges end. Node has neither.
 */
export function limitRequestDuration(
  connections: Iterable<Connection>,
  { withinMs, unreadBytes } = bounds,
  lookEveryMs = 1000,
): void {
  const enforce = () => {
    const overdueMs = performance.now() - withinMs;
    const begunAtMs = ({ latest }: Connection) => latest?.begunAtMs ?? 0;
    const open = [...connections].filter(({ latest }) => latest);
    let unread = open.reduce((sum, { socket }) => sum + socket.writableLength, 0);
    if (unread > unreadBytes) open.sort((one, other) => begunAtMs(one) - begunAtMs(other));
    for (const connection of open) {
      const { socket } = connection;
      const holdsTooMuch = unread > unreadBytes && socket.writableLength > 0;
      if (begunAtMs(connection) >= overdueMs && !holdsTooMuch) continue;
      unread -= socket.writableLength;
      // Without a reset, the system would keep offering the rest of the response.
      socket.resetAndDestroy();
    }
  };
  setInterval(enforce, lookEveryMs).unref();
}
