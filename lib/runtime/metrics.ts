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
      help: "Requests answered, by the address as the registers have it, and status.",
      labelNames: ["address", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "corner_office_request_seconds",
      help: "Time from the head of a request until its answer was ready.",
      labelNames: ["address"],
      buckets: fastSeconds,
      registers,
    }),
    quotaRefusals: new Counter({
      name: "corner_office_quota_refusals_total",
      help: "Requests refused because an address had used up its quota.",
      labelNames: ["quota"],
      registers,
    }),
    counterStoreUp: new Gauge({
      name: "corner_office_counter_store_up",
      help: "Whether the shared store of counters answered when it was last asked.",
      labelNames: ["quota"],
      registers,
    }),
    storeSeconds: new Histogram({
      name: "corner_office_store_seconds",
      help: "Time that a query of the store took, by how it ended.",
      labelNames: ["outcome"],
      buckets: fastSeconds,
      registers,
    }),
    storeConnections: new Gauge({
      name: "corner_office_store_connections",
      help: "Connections to PostgreSQL in use and at rest, and requests that wait for one.",
      labelNames: ["state"],
      registers,
    }),
    renders: new Counter({
      name: "corner_office_renders_total",
      help: "Pages that the process of the pages was asked for, by whether it rendered them.",
      labelNames: ["outcome"],
      registers,
    }),
    pagesRestarts: new Counter({
      name: "corner_office_pages_restarts_total",
      help: "How often the process of the pages ended and was started again.",
      registers,
    }),
    mails: new Counter({
      name: "corner_office_mails_total",
      help: "Mails handed to whoever delivers them, by whether they were taken.",
      labelNames: ["outcome"],
      registers,
    }),
    outboxMails: new Gauge({
      name: "corner_office_outbox_mails",
      help: "Mails in an outbox by state, counted up to 10,000; not those that were sent or stopped.",
      labelNames: ["outbox", "state"],
      registers,
    }),
    outboxDue: new Gauge({
      name: "corner_office_outbox_due",
      help: "Mails that are due in an outbox, counted up to 10,000.",
      labelNames: ["outbox"],
      registers,
    }),
    outboxOldestDueSeconds: new Gauge({
      name: "corner_office_outbox_oldest_due_seconds",
      help: "For how long the mail has been due that waits longest.",
      labelNames: ["outbox"],
      registers,
    }),
  };
}
