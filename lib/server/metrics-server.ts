import { createServer, type Server } from "node:http";
import { isIP } from "node:net";
import { hostname as machineName } from "node:os";
import { countWrongCodes } from "@/lib/auth/codes/sign-in-code-limits";
import { findOldestOpen } from "@/lib/billing/reconciler";
import { settings } from "@/lib/config/settings";
import { findLastBackup } from "@/lib/db/audit";
import { processStore, store } from "@/lib/db/store";
import { listWebhooks, stateOf, webhookStates } from "@/lib/events/webhooks";
import { unsigned } from "@/lib/http/hook-deliveries";
import { hooks } from "@/lib/http/register/hooks";
import { countByState, findBacklogs } from "@/lib/mail/outbox/backlog";
import { probeCounterStore } from "@/lib/rate-limit/rate-limit";
import { outageSince } from "@/lib/runtime/dependency-outages";
import { measureDisk } from "@/lib/runtime/disk";
import { log } from "@/lib/runtime/log";
import type { Metrics } from "@/lib/runtime/metrics";
import { withTimeout } from "@/lib/runtime/timeout";
import { version } from "@/package.json";

const waitAtMostMs = 1000;

/** Serves the metrics in Prometheus' format at `/metrics`, without sign-in: its port is for the monitoring network. */
export function createMetricsServer(metrics: Metrics): Server {
  metrics.buildInfo.set({ version, node: process.versions.node }, 1);
  // One that starts has met no failure, and the one before it may have had the last mail taken.
  metrics.mailTried.set({ outcome: "taken" }, Date.now() / 1000);
  metrics.mailTried.set({ outcome: "not taken" }, 0);
  // A counter that appears with its first count has no increase.
  for (const { path: hook } of Object.values(hooks))
    for (const outcome of ["accepted", ...unsigned]) metrics.hookDeliveries.inc({ hook, outcome }, 0);
  return createServer(async (incoming, outgoing) => {
    if (!isOwnHost(incoming.headers.host)) return outgoing.writeHead(421).end(useOwnHost);
    if (incoming.url?.split("?", 1)[0] !== "/metrics")
      return outgoing.writeHead(404).end("Only /metrics is served here.\n");
    await Promise.all([measureStore(metrics), measureCounters(metrics, performance.now())]);
    const text = await metrics.registry.metrics();
    outgoing.writeHead(200, { "content-type": metrics.registry.contentType }).end(text);
  });
}

const useOwnHost =
  "Ask for this machine by an address, by METRICS_HOST, by a name of its own network or by one that ends in METRICS_DOMAIN.\n";

/**
 * Whether a Host names this machine: an address, `METRICS_HOST`, the machine's name, a name that no public DNS has, or one of
 * `METRICS_DOMAIN`. A page that points its own name at this port then reads nothing (DNS rebinding). Programs of HTTP/1.0 may
 * send none.
 */
function isOwnHost(host: string | undefined): boolean {
  if (host === undefined) return true;
  const name = host.toLowerCase().replace(/:\d*$/, "");
  // RFC 6762, Appendix G, and Consul's.
  const ofNetwork =
    /^[^.]+$|\.(?:localhost|local|internal|svc|home\.arpa|intranet|private|corp|home|lan|consul)$/;
  const isAddress = isIP(name.replace(/^\[|\]$/g, "")) !== 0;
  const { metricsHost, metricsDomain } = settings();
  const isOfDomain = metricsDomain !== undefined && `.${name}`.endsWith(`.${metricsDomain}`);
  const isOwn = isOfDomain || [metricsHost, machineName().toLowerCase()].includes(name);
  return isAddress || isOwn || ofNetwork.test(name);
}

let countedAtMs = Number.NEGATIVE_INFINITY;

/** Asks the counters that instances share, because on a quiet site nothing else does; Upstash is paid for each time. */
async function measureCounters(metrics: Metrics, nowMs: number): Promise<void> {
  if (nowMs - countedAtMs < (settings().upstash ? 60_000 : 0)) return;
  countedAtMs = nowMs;
  const counting = await probeCounterStore(waitAtMostMs).catch(() => "");
  if (counting !== undefined) metrics.counterStoreUp.set({ quota: "probe" }, counting ? 1 : 0);
}

/** Measures the store's connections and what is in it, which has no values while the store is unavailable. */
async function measureStore(metrics: Metrics): Promise<void> {
  for (const [state, connections] of Object.entries(processStore().countConnections() ?? {})) {
    metrics.storeConnections.set({ state }, connections);
  }
  metrics.storeUp.set({ of: "writes" }, outageSince("writes") === undefined ? 1 : 0);
  metrics.mailUp.set(outageSince("mail") === undefined ? 1 : 0);
  metrics.disk.reset();
  // With PostgreSQL and mail by a provider, nothing has made the folder.
  const disk = await measureDisk(settings().dataDir).catch(() => undefined);
  if (disk) {
    metrics.disk.set({ of: "all" }, disk.allBytes);
    metrics.disk.set({ of: "free" }, disk.freeBytes);
  }
  metrics.lastBackup.remove();
  metrics.oldestUnsettledSeconds.reset();
  metrics.outboxMails.reset();
  metrics.outboxDue.reset();
  metrics.outboxOldestDueSeconds.reset();
  metrics.wrongCodes.reset();
  metrics.webhooksByState.reset();
  try {
    const nowMs = Date.now();
    const db = await withTimeout(waitAtMostMs, store());
    const [backlogs, states, wrongCodes, webhooks, backedUpAtMs] = await withTimeout(
      waitAtMostMs,
      Promise.all([
        findBacklogs(db, nowMs),
        countByState(db),
        countWrongCodes(db, nowMs),
        listWebhooks(db),
        findLastBackup(db),
      ]),
    );
    metrics.storeUp.set({ of: "reads" }, 1);
    metrics.wrongCodes.set(wrongCodes);
    if (backedUpAtMs !== undefined) metrics.lastBackup.set(backedUpAtMs / 1000);
    for (const state of webhookStates) metrics.webhooksByState.set({ state }, 0);
    for (const webhook of webhooks) metrics.webhooksByState.inc({ state: stateOf(webhook) });
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
    metrics.storeUp.set({ of: "reads" }, 0);
    log().debug({ err: failure }, "the outboxes could not be measured");
  }
}
