import { createServer, type Server } from "node:http";
import { findOldestOpen } from "@/lib/billing/reconciler";
import { settings } from "@/lib/config/settings";
import { processStore, store } from "@/lib/db/store";
import { countByState, findBacklogs } from "@/lib/mail/backlog";
import { log } from "@/lib/runtime/log";
import type { Metrics } from "@/lib/runtime/metrics";
import { withTimeout } from "@/lib/runtime/timeout";

const waitAtMostMs = 1000;

/** Serves the metrics in Prometheus' format at `/metrics`, without sign-in: its port is for the monitoring network. */
export function createMetricsServer(metrics: Metrics): Server {
  return createServer(async (incoming, outgoing) => {
    if (incoming.url !== "/metrics") return outgoing.writeHead(404).end("Only /metrics is served here.\n");
    await measureStore(metrics);
    const text = await metrics.registry.metrics();
    outgoing.writeHead(200, { "content-type": metrics.registry.contentType }).end(text);
  });
}

/** Measures the store's connections and outboxes. The outboxes and checkouts have no values while the store is unavailable. */
async function measureStore(metrics: Metrics): Promise<void> {
  for (const [state, connections] of Object.entries(processStore().countConnections() ?? {})) {
    metrics.storeConnections.set({ state }, connections);
  }
  metrics.oldestUnsettledSeconds.reset();
  metrics.outboxMails.reset();
  metrics.outboxDue.reset();
  metrics.outboxOldestDueSeconds.reset();
  try {
    const nowMs = Date.now();
    const db = await withTimeout(waitAtMostMs, store());
    const [backlogs, states] = await withTimeout(
      waitAtMostMs,
      Promise.all([findBacklogs(db, nowMs), countByState(db)]),
    );
    for (const { outbox, state, mails } of states) metrics.outboxMails.set({ outbox, state }, mails);
    for (const { outbox, mails, oldestDueAtMs } of backlogs) {
      metrics.outboxDue.set({ outbox }, mails);
      metrics.outboxOldestDueSeconds.set({ outbox }, mails > 0 ? (nowMs - oldestDueAtMs) / 1000 : 0);
    }
    if (settings().billing) {
      const oldestAtMs = await withTimeout(waitAtMostMs, findOldestOpen(db, nowMs));
      metrics.oldestUnsettledSeconds.set(oldestAtMs === undefined ? 0 : (nowMs - oldestAtMs) / 1000);
    }
  } catch (failure) {
    log().debug({ err: failure }, "the outboxes could not be measured");
  }
}
