import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { settings } from "@/lib/config/settings";
import { processSingleton } from "@/lib/process-singleton";

export type Metrics = ReturnType<typeof makeMetrics>;

/** The metrics of this process; undefined when METRICS_PORT is not set. */
export function metrics(): Metrics | undefined {
  return processSingleton("metrics", () => (settings().metricsPort ? makeMetrics() : undefined));
}

const fastSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** All metrics. No label contains a client's address, an email, a token or anything else that a client sent. */
function makeMetrics() {
  const registry = new Registry();
  const registers = [registry];
  // CPU, memory, event-loop delay and garbage collection, as Node reports them.
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Counter({
      name: "corner_office_requests_total",
      help: "Requests by registered address and status.",
      labelNames: ["address", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "corner_office_request_seconds",
      help: "Time from the request's head until the response was ready.",
      labelNames: ["address"],
      buckets: fastSeconds,
      registers,
    }),
    quotaRefusals: new Counter({
      name: "corner_office_quota_refusals_total",
      help: "Requests refused because the client had used up its quota.",
      labelNames: ["quota"],
      registers,
    }),
    counterStoreUp: new Gauge({
      name: "corner_office_counter_store_up",
      help: "Whether the last call to the shared counter store succeeded.",
      labelNames: ["quota"],
      registers,
    }),
    storeSeconds: new Histogram({
      name: "corner_office_store_seconds",
      help: "Time of a store query, by outcome.",
      labelNames: ["outcome"],
      buckets: fastSeconds,
      registers,
    }),
    storeRepeats: new Counter({
      name: "corner_office_store_repeats_total",
      help: "Transactions that PostgreSQL undid because they met another, and that were repeated, by SQLSTATE.",
      labelNames: ["state"],
      registers,
    }),
    storeConnections: new Gauge({
      name: "corner_office_store_connections",
      help: "PostgreSQL connections in use and idle, and requests that wait for one.",
      labelNames: ["state"],
      registers,
    }),
    sunset: new Gauge({
      name: "corner_office_sunset_timestamp_seconds",
      help: "When an operation that is being retired begins to answer 410, in Unix seconds.",
      labelNames: ["operation"],
      registers,
    }),
    purchases: new Counter({
      name: "corner_office_purchases_total",
      help: "Checkouts begun, purchases fulfilled, and attempts to fulfil one that failed.",
      labelNames: ["outcome"],
      registers,
    }),
    oldestUnsettledSeconds: new Gauge({
      name: "corner_office_checkouts_oldest_unsettled_seconds",
      help: "How long ago the oldest open checkout began; Stripe ends one after a day.",
      registers,
    }),
    mails: new Counter({
      name: "corner_office_mails_total",
      help: "Mails passed to the mail provider, by outcome.",
      labelNames: ["outcome"],
      registers,
    }),
    outboxMails: new Gauge({
      name: "corner_office_outbox_mails",
      help: "Mails in an outbox by state, except sent and stopped ones, counted up to 10,000.",
      labelNames: ["outbox", "state"],
      registers,
    }),
    outboxDue: new Gauge({
      name: "corner_office_outbox_due",
      help: "Due mails in an outbox, counted up to 10,000.",
      labelNames: ["outbox"],
      registers,
    }),
    outboxOldestDueSeconds: new Gauge({
      name: "corner_office_outbox_oldest_due_seconds",
      help: "How long the oldest due mail has been due.",
      labelNames: ["outbox"],
      registers,
    }),
  };
}
