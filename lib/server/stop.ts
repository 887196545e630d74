import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { closeStore } from "@/lib/db/store";
import { log } from "@/lib/runtime/log";
import { blockReadiness } from "@/lib/runtime/readiness";

/** A supervisor that signals the process group reaches us twice at once: directly, and through npm, which passes it on. */
const oneSignalMs = 2000; // 2 seconds
const lingerMs = 1000; // for idle connections, on which a request may be on its way
const stopWithinMs = 10_000; // 10 seconds

type Options = {
  /** How long the server keeps answering while `/ready` returns 503, so that a load balancer notices. */
  drainSeconds: number;
  /** Called at once, so that no new work starts, and awaited at the end. */
  finish: () => Promise<unknown>;
};

/**
 * Stops the server gracefully on SIGTERM, SIGINT or SIGHUP: `/ready` returns 503, each response closes its connection,
 * no connection is accepted after the drain, and requests in progress have ten seconds. A SIGTERM or SIGINT two seconds
 * after the first or later ends the process at once.
 */
export function stopOnSignal(server: Server, { drainSeconds, finish }: Options): void {
  let stoppingSinceMs: number | undefined;

  async function stop(): Promise<void> {
    stoppingSinceMs = performance.now();
    blockReadiness("the service is stopping");
    closeAfterResponses(server);
    const finished = finish();
    log().info({ drainSeconds }, "stopping");
    await sleep(drainSeconds * 1000);
    await closeConnections(server);
    await finished;
    await closeStore();
    process.exit(0);
  }

  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSinceMs === undefined) void stop();
    // A terminal that closes often sends SIGHUP and SIGTERM: SIGHUP does not count as a second signal.
    else if (signal !== "SIGHUP" && performance.now() - stoppingSinceMs >= oneSignalMs) process.exit(1);
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("SIGHUP", onSignal);
}

/** Sends `Connection: close` with each response from now on (RFC 9112 §9.6). */
function closeAfterResponses(server: Server): void {
  const closeAfter = (_: unknown, outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false;
  };
  server.prependListener("request", closeAfter).prependListener("checkExpectation", closeAfter);
}

/** Stops accepting connections, and closes each after its response: idle ones after a second, and all after ten. */
export function closeGracefully(server: Server): Promise<void> {
  closeAfterResponses(server);
  return closeConnections(server);
}

async function closeConnections(server: Server): Promise<void> {
  // The HTTP server's own `close` would close idle connections at once.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  setTimeout(() => setInterval(() => server.closeIdleConnections(), 100), lingerMs);
  setTimeout(() => server.closeAllConnections(), stopWithinMs);
  await closed;
}
