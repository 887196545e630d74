import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { settings } from "@/lib/config/settings";
import { perProcess } from "@/lib/per-process";

export type Metrics = ReturnType<typeof makeMetrics>;

/** The metrics of this process; undefined when METRICS_PORT is not set. */
export const metrics = perProcess("metrics", () => (settings().metricsPort ? makeMetrics() : undefined));

const fastSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** All metrics. No label contains a client's address, an email, a token or anything else that a client sent. */
function makeMetrics() {
  const registry = new Registry();
  // CPU, memory, event-loop delay and garbage collection, as Node reports them.
  collectDefaultMetrics({ register: registry });
  const about = <Label extends string>(name: string, help: string, labelNames: Label[]) => ({
    name: `corner_office_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const counter = <Label extends string>(name: string, help: string, ...labels: Label[]) =>
    new Counter(about(name, help, labels));
  const gauge = <Label extends string>(name: string, help: string, ...labels: Label[]) =>
    new Gauge(about(name, help, labels));
  const histogram = <Label extends string>(name: string, help: string, label: Label) =>
    new Histogram({ ...about(name, help, [label]), buckets: fastSeconds });
  return {
    registry,
    buildInfo: gauge("build_info", "Always 1: the release and its Node.", "version", "node"),
    requests: counter("requests_total", "Requests by registered address and status.", "address", "status"),
    requestSeconds: histogram(
      "request_seconds",
      "Time from the request's head until the response was ready.",
      "address",
    ),
    quotaRefusals: counter(
      "quota_refusals_total",
      "Requests refused because the client had used up its quota.",
      "quota",
    ),
    counterStoreUp: gauge(
      "counter_store_up",
      "Whether the last call to the shared counter store succeeded.",
      "quota",
    ),
    storeUp: gauge(
      "store_up",
      "Whether the store answers a read, and whether it accepted the last write.",
      "of",
    ),
    lastBackup: gauge(
      "last_backup_timestamp_seconds",
      "When `admin backup` last wrote a file, in Unix seconds; absent if it never did.",
    ),
    disk: gauge("disk_bytes", "The disk of DATA_DIR: all of it, and what is free.", "of"),
    mailUp: gauge(
      "mail_up",
      "Whether the mail provider accepted the last mail of this process, if it tried one within nine minutes.",
    ),
    mailTried: gauge(
      "mail_tried_timestamp_seconds",
      "When the mail provider last took a mail, or refused that one alone, and when it last took none, in Unix seconds: at first its start, and 0.",
      "outcome",
    ),
    storeSeconds: histogram("store_seconds", "Time of a store query, by outcome.", "outcome"),
    storeRepeats: counter(
      "store_repeats_total",
      "Transactions that PostgreSQL undid because they met another, and that were repeated, by SQLSTATE.",
      "state",
    ),
    storeConnections: gauge(
      "store_connections",
      "PostgreSQL connections in use and idle, and requests that wait for one.",
      "state",
    ),
    sunset: gauge(
      "sunset_timestamp_seconds",
      "When an operation that is being retired begins to answer 410, in Unix seconds.",
      "operation",
    ),
    purchases: counter(
      "purchases_total",
      "Checkouts begun, purchases fulfilled, and attempts to fulfil one that failed.",
      "outcome",
    ),
    oldestUnsettledSeconds: gauge(
      "checkouts_oldest_unsettled_seconds",
      "How long ago the oldest open checkout began; Stripe ends one after a day.",
    ),
    hookDeliveries: counter(
      "hook_deliveries_total",
      "Deliveries to our providers' webhooks, by webhook and whether their signature was accepted, or why not.",
      "hook",
      "outcome",
    ),
    webhooks: counter(
      "webhook_attempts_total",
      "Attempts to deliver an event to a webhook, by outcome.",
      "outcome",
    ),
    webhooksByState: gauge(
      "webhooks",
      "Webhooks by state: works, failing, stopped after three days of it or 410, or locked, which nothing can be signed for.",
      "state",
    ),
    mails: counter("mails_total", "Mails passed to the mail provider, by outcome.", "outcome"),
    wrongCodes: gauge(
      "wrong_sign_in_codes",
      "Wrong sign-in codes of unknown browsers in the last hour. From 30 on, codes are longer, and more are not counted.",
    ),
    outboxMails: gauge(
      "outbox_mails",
      "Mails in an outbox by state, except sent and stopped ones, counted up to 10,000.",
      "outbox",
      "state",
    ),
    outboxDue: gauge("outbox_due", "Due mails in an outbox, counted up to 10,000.", "outbox"),
    outboxOldestDueSeconds: gauge(
      "outbox_oldest_due_seconds",
      "How long the oldest due mail has been due.",
      "outbox",
    ),
  };
}
