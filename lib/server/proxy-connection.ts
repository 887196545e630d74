import type { IncomingMessage, ServerResponse } from "node:http";
import { settings } from "@/lib/config/settings";

const laterMs = 1000; // than we say, as Node does

/**
 * Keeps an idle connection of a trusted proxy for longer than the proxy does: if we closed it while the proxy's next request is
 * on its way, that request would fail (502), because it may not be repeated unless it is safe. Strangers, and all clients
 * without a proxy, have the time of `connectionLimits`.
 */
export function keepForProxy({ headers, socket }: IncomingMessage, outgoing: ServerResponse): void {
  const { trustedProxyHops, proxyKeepAliveSeconds } = settings();
  if (trustedProxyHops === 0 || headers["x-forwarded-for"] === undefined) return;
  const keepAliveMs = proxyKeepAliveSeconds * 1000;
  Object.assign(outgoing, { _keepAliveTimeout: keepAliveMs }); // what the `Keep-Alive` field says
  // Node's own listener is the first, and sets the time of a stranger.
  outgoing.once("finish", () => {
    if (outgoing.shouldKeepAlive) socket.setTimeout(keepAliveMs + laterMs);
  });
}
