import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@/lib/db/store";
import { readWaiting } from "@/lib/events/delivery-rows";
import { DeliveryRunner, leaseHolder, readAtOnce } from "@/lib/events/delivery-runner";
import { numberEvents } from "@/lib/events/event-list";
import { isLocked, listWebhooks, type WebhookRow } from "@/lib/events/webhooks";
import { perProcess } from "@/lib/per-process";

/* One instance at a time delivers for a webhook, under a lease; all take their turn. */

const leaseMs = 15_000;
const renewMs = 5_000;

/** The webhooks that this process delivers. */
const runners = perProcess("webhook runners", () => new Map<string, DeliveryRunner>());
let idleUntilMs = 0;

/** A round: takes the leases that are free, gives each webhook what is new, and notes what was answered. */
export async function deliverWebhooks(db: Db, nowMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || nowMs < idleUntilMs) return;
  const webhooks = await listWebhooks(db);
  const own = runners();
  for (const [id, runner] of own) if (!webhooks.some((one) => one.id === id)) drop(id, runner);
  const running = webhooks.filter(({ stopped_at_ms }) => stopped_at_ms === null);
  idleUntilMs = running.length === 0 ? nowMs + 1000 : 0;
  if (running.length === 0) return;
  await numberEvents(db, readAtOnce);
  await Promise.all(running.map((webhook) => runOne(db, webhook, nowMs)));
}

/** Delivers all that is due, and gives the leases back: for a process that may not live until the next round. */
export async function deliverDueWebhooks(db: Db, signal: AbortSignal): Promise<void> {
  await deliverWebhooks(db, Date.now(), signal);
  while (!signal.aborted && [...runners().values()].some(({ isSending }) => isSending)) {
    await sleep(50);
    await deliverWebhooks(db, Date.now(), signal);
  }
  await stopWebhooks(db);
}

/** Waits for what is being sent, notes it and gives the leases back. */
export async function stopWebhooks(db: Db): Promise<void> {
  await Promise.all(
    [...runners()].map(async ([id, runner]) => {
      await runner.stop();
      await runner.flush(db, 0);
      drop(id, runner);
    }),
  );
}

function drop(id: string, runner: DeliveryRunner): void {
  void runner.stop();
  runners().delete(id);
}

async function runOne(db: Db, webhook: WebhookRow, nowMs: number): Promise<void> {
  const { id, version } = webhook;
  let runner = runners().get(id);
  if (runner && (runner.version !== version || webhook.lease_by !== leaseHolder())) {
    drop(id, runner);
    runner = undefined;
  }
  // While APP_SECRET is rotated, another instance may be the one that can sign.
  if (!runner && isLocked(webhook)) return;
  if (!runner && webhook.lease_by !== leaseHolder() && webhook.lease_until_ms > nowMs) return;
  if (!runner || runner.leaseUntilMs < nowMs + leaseMs - renewMs) {
    const untilMs = nowMs + leaseMs;
    if (!(await takeLease(db, webhook, nowMs, untilMs))) return runner && drop(id, runner);
    if (!runner) {
      runner = new DeliveryRunner(webhook, await readWaiting(db, id, 1));
      runners().set(id, runner);
    }
    runner.leaseUntilMs = untilMs;
  }
  if (!(await runner.flush(db, nowMs + leaseMs))) return drop(id, runner);
  await runner.take(db);
}

async function takeLease(
  db: Db,
  { id, version }: WebhookRow,
  nowMs: number,
  untilMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("webhooks")
    .set({ lease_by: leaseHolder(), lease_until_ms: untilMs })
    .where("id", "=", id)
    .where("version", "=", version)
    .where((row) => row.or([row("lease_by", "=", leaseHolder()), row("lease_until_ms", "<=", nowMs)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
