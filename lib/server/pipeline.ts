import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { JoinedMessage } from "@/lib/server/joined-message";

const maxWaiting = 64;

/**
 * One request in work per connection: who sends the next one before the answer has it wait until that has left, as
 * the answers have to leave in that order anyhow (RFC 9112 §9.3.2). While many wait nothing more is read, and what
 * waits on a connection that closes is never begun.
 */
export function serializePipelined(begin: (incoming: JoinedMessage, outgoing: ServerResponse) => void) {
  const waiting = new WeakMap<Socket, number>();

  function count(socket: Socket, auditedTransaction: 1 | -1): void {
    const before = waiting.get(socket) ?? 0;
    waiting.set(socket, before + auditedTransaction);
    if (auditedTransaction > 0 && before === maxWaiting) socket.pause();
    if (auditedTransaction < 0 && before === maxWaiting + 1) socket.resume();
  }

  return (incoming: JoinedMessage, outgoing: ServerResponse): void => {
    // Node gives an answer its socket when all before it have left.
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
