import type { Socket } from "node:net";
import { discardBounds } from "@/lib/config/limits";

/**
 * Closes a connection in stages (RFC 9112 §9.6): ends our side, then reads and discards within bounds what the client still
 * sends. To close with bytes unread is to reset, and a reset takes the answer from a client that has not read it yet.
 */
export function closeInStages(socket: Socket): void {
  const deadline = setTimeout(() => socket.destroy(), discardBounds.withinMs);
  socket.once("close", () => clearTimeout(deadline)).on("error", () => socket.destroy());
  // Node begins to read a paused socket again at this event, if its parser still has it.
  if (socket.isPaused()) socket.once("resume", () => discard(socket));
  else discard(socket);
  socket.resume().end();
}

/** Takes the socket from Node's parser, as no request after the last answer is processed (RFC 9112 §9.6). */
function discard(socket: Socket): void {
  let discarded = 0;
  socket.removeAllListeners("data").on("data", ({ length }: Buffer) => {
    discarded += length;
    if (discarded > discardBounds.bytes) socket.destroy();
  });
}
