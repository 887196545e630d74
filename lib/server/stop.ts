import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { log } from "@/lib/runtime/log";
import { blockReadiness } from "@/lib/runtime/readiness";

const lingerMs = 1000; // for connections that wait between two requests
const stopWithinMs = 10_000; // 10 seconds

type Options = {
  /** How long `/ready` says no while everything is still answered: until a balancer has seen it. */
  drainSeconds: number;
  /** Told at once, so that nothing new is begun; waited for at the end. */
  finish: () => Promise<unknown>;
  /** What is done last. */
  close: () => Promise<void>;
};

/**
 * Stops a server when it is told to by SIGTERM, SIGINT or SIGHUP, without a broken answer: `/ready` turns to 503, every
 * answer from then on closes its connection and says so, no connection is accepted after the drain, and what is in
 * flight has ten seconds. A second SIGTERM or SIGINT ends the process at once.
 */
export function stopOnSignal(server: Server, { drainSeconds, finish, close }: Options): void {
  let isStopping = false;

  async function stop(): Promise<void> {
    isStopping = true;
    blockReadiness("it is being stopped");
    closeAfterResponses(server);
    const finished = finish();
    log().info({ drainSeconds }, "stopping");
    await sleep(drainSeconds * 1000);
    await closeConnections(server);
    await finished;
    await close();
    process.exit(0);
  }

  const onSignal = () => (isStopping ? process.exit(1) : stop());
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  // Whoever hangs up often sends SIGTERM as well: that makes it no second signal.
  process.on("SIGHUP", () => isStopping || stop());
}

/** Has each answer from now on say `Connection: close` (RFC 9112 §9.6), so that nobody sends a request after it. */
function closeAfterResponses(server: Server): void {
  const closeAfter = (_: unknown, outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false;
  };
  server.prependListener("request", closeAfter).prependListener("checkExpectation", closeAfter);
}

/**
 * Accepts no connection any more, and closes those that there are: at once where an answer was the last, after a
 * second where nothing was asked, because a request may be on its way to us, and after ten seconds in any case.
 */
async function closeConnections(server: Server): Promise<void> {
  // The server's own `close` would break the idle ones off.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  setTimeout(() => setInterval(() => server.closeIdleConnections(), 100), lingerMs);
  setTimeout(() => server.closeAllConnections(), stopWithinMs);
  await closed;
}
