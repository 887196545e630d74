import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { maxPipelined } from "@/lib/config/limits";

const waiting = new WeakMap<Socket, number>();

/** Whether as many requests of this connection wait as may wait behind the one in work. */
export function isPipelineFull(socket: Socket): boolean {
  return (waiting.get(socket) ?? 0) >= maxPipelined;
}

/**
 * Handles one request per connection at a time: responses must leave in order (RFC 9112 §9.3.2). While requests wait,
 * nothing more is read; those that wait when the connection closes are dropped.
 */
export function inOrder({ socket }: IncomingMessage, outgoing: ServerResponse, begin: () => void): void {
  // Node gives a response its socket when all responses before it are sent.
  if (outgoing.socket) {
    begin();
    return;
  }
  waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
  socket.pause();
  outgoing.once("socket", () => {
    const left = (waiting.get(socket) ?? 1) - 1;
    waiting.set(socket, left);
    if (left === 0) socket.resume();
    begin();
  });
}
