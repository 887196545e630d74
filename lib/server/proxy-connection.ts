import type { IncomingMessage, ServerResponse } from "node:http";
import { settings } from "@/lib/config/settings";

/** Node's own margin beyond what its answers say. */
const laterMs = 1000;

/**
 * How long a server keeps an idle connection of a trusted proxy, in milliseconds: longer than the proxy does, because if we
 * closed it while the proxy's next request is on its way, that request would fail (502): it may not be repeated unless it is
 * safe. `undefined` without a proxy.
 */
export function keptForProxyMs(): number | undefined {
  const { trustedProxyHops, proxyKeepAliveSeconds } = settings();
  return trustedProxyHops === 0 ? undefined : proxyKeepAliveSeconds * 1000;
}

/** Gives a connection that is not the proxy's the time of strangers, `ms`. */
export function keepForStranger(
  { headers, socket }: IncomingMessage,
  outgoing: ServerResponse,
  ms: number,
): void {
  if (headers["x-forwarded-for"] !== undefined) return;
  Object.assign(outgoing, { _keepAliveTimeout: ms }); // what the `Keep-Alive` field says
  // Node's own listener is the first, and sets the time of a proxy.
  outgoing.once("finish", () => {
    if (outgoing.shouldKeepAlive) socket.setTimeout(ms + laterMs);
  });
}
