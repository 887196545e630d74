import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { JoinedMessage } from "@/lib/server/joined-message";

const maxWaiting = 64;

/**
 * Handles one request per connection at a time: responses must leave in order (RFC 9112 §9.3.2). While many requests
 * wait, nothing more is read; those that wait when the connection closes are dropped.
 */
export function serializePipelined(begin: (incoming: JoinedMessage, outgoing: ServerResponse) => void) {
  const waiting = new WeakMap<Socket, number>();

  function count(socket: Socket, change: 1 | -1): void {
    const before = waiting.get(socket) ?? 0;
    waiting.set(socket, before + change);
    if (change > 0 && before === maxWaiting) socket.pause();
    if (change < 0 && before === maxWaiting + 1) socket.resume();
  }

  return (incoming: JoinedMessage, outgoing: ServerResponse): void => {
    // Node gives a response its socket when all responses before it are sent.
    if (outgoing.socket) {
      begin(incoming, outgoing);
      return;
    }
    const { socket } = incoming;
    count(socket, 1);
    outgoing.once("socket", () => {
      count(socket, -1);
      begin(incoming, outgoing);
    });
  };
}
