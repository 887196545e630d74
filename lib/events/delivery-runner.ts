import { randomUUID } from "node:crypto";
import { dayMs, hourMs } from "@/lib/config/durations";
import { webhookTriedDays } from "@/lib/config/lifetimes";
import type { Db } from "@/lib/db/store";
import { transact } from "@/lib/db/transaction";
import { type Item, readWaiting, type Settled, writeSettled } from "@/lib/events/delivery-rows";
import { describeEvent } from "@/lib/events/event";
import { readEvents, readLastNumber } from "@/lib/events/event-list";
import { type Answer, isSuccess, Receiver } from "@/lib/events/receiver";
import { signDelivery } from "@/lib/events/signature";
import { secretsOf, type WebhookRow } from "@/lib/events/webhooks";
import { perProcess } from "@/lib/per-process";
import { jitter } from "@/lib/runtime/jitter";
import { log } from "@/lib/runtime/log";
import { metrics } from "@/lib/runtime/metrics";

/*
 * Events of an account go one after the other, those of several accounts at once. The store has, for each webhook, the number
 * through which all is settled, and the deliveries that wait: what a killed process had sent and not yet noted is sent again,
 * with the same id.
 */

const accountsAtOnce = 32;
/** Events that are read in one turn. */
export const readAtOnce = 500;
const maxUnsettled = 2000;
/** While so many wait in memory, nothing new is read: of an account the first, or a few while they are accepted. */
const maxWaiting = 5000;
const readAgainAtOnce = 20;
/** So many accounts in turn have to fail before a receiver counts as away, and is only asked now and then. */
const accountsOfAway = 5;
const triedForMs = webhookTriedDays * dayMs;
const gone = 410;

/** The pause after so many attempts: 5, 15 and 45 seconds, 2, 7 and 20 minutes, then half an hour; a quarter more or less. */
const retryDelayMs = (attempts: number) => spread(Math.min(5000 * 3 ** (attempts - 1), hourMs / 2));
/** The pause between two attempts at a receiver that is away: from a second to 5 minutes. */
const awayDelayMs = (tries: number) => spread(Math.min(1000 * 2 ** tries, 300_000));
const spread = (ms: number) => jitter(ms * 0.75, ms * 1.25, Math.random());

/** The name by which this process holds leases. */
export const leaseHolder = perProcess("webhook lease holder", randomUUID);

/** Delivers for one webhook while it has the lease. */
export class DeliveryRunner {
  readonly version: number;
  leaseUntilMs = 0;
  private readonly receiver: Receiver;
  /** What is not settled, by account, in order. */
  private readonly chains = new Map<string, Item[]>();
  /** The accounts of which the store may have more that waits. */
  private readonly inStore = new Set<string>();
  private readonly inWork = new Map<string, Promise<void>>();
  private settled: Settled[] = [];
  private readThrough: number;
  private failingSinceMs: number | null;
  private readonly failedInTurn = new Set<string>();
  private awayUntilMs = 0;
  private awayTries = 0;
  private stoppedAtMs: number | null = null;
  private isStopping = false;

  constructor(
    private readonly webhook: WebhookRow,
    firstOfEach: Item[],
  ) {
    this.version = webhook.version;
    this.readThrough = webhook.position;
    this.failingSinceMs = webhook.failing_since_ms;
    this.receiver = new Receiver(new URL(webhook.url));
    for (const item of firstOfEach) {
      this.chainOf(item.event.account_id).push(item);
      this.inStore.add(item.event.account_id);
    }
  }

  get isSending(): boolean {
    return this.inWork.size > 0 || this.emptied().length > 0;
  }

  /** Reads what is new, unless enough waits, and sends what is due. */
  async take(db: Db): Promise<void> {
    await this.readAgain(db);
    const items = [...this.chains.values()].flat();
    const stored = items.filter(({ isStored }) => isStored).length;
    if (stored < maxWaiting && items.length - stored < maxUnsettled && !this.isAway) await this.read(db);
    this.start();
  }

  private async read(db: Db): Promise<void> {
    const last = await readLastNumber(db);
    if (last <= this.readThrough) return;
    const types = this.webhook.types?.split(",");
    const events = await readEvents(db, this.readThrough, readAtOnce, types);
    for (const event of events) {
      const { account_id } = event;
      const chain = this.chains.get(account_id) ?? [];
      const number = Number(event.number);
      // An event that an operator has asked for again may be in the chain already.
      if (chain.some((item) => item.number === number)) continue;
      const item = { event, number, attempts: 0, firstAtMs: null, nextAtMs: 0, isStored: false };
      if (this.inStore.has(account_id) || (chain[0]?.attempts ?? 0) > 0) this.leave(item);
      else this.chainOf(account_id).push(item);
    }
    // Some may have been numbered since `last` was read.
    const through = events.length < readAtOnce ? last : 0;
    this.readThrough = Math.max(this.readThrough, through, Number(events.at(-1)?.number ?? 0));
  }

  /** Reads what follows, in the store, of accounts of which nothing is left here. */
  private async readAgain(db: Db): Promise<void> {
    // What was answered since the last round is not in the store yet.
    const unsettled = new Set(this.settled.map(({ item }) => item.event.account_id));
    const known = this.emptied().filter((account) => !unsettled.has(account));
    const accounts = known.slice(0, maxWaiting / readAgainAtOnce);
    if (accounts.length === 0) return;
    const items = await readWaiting(db, this.webhook.id, readAgainAtOnce, accounts);
    const byAccount = Map.groupBy(items, ({ event }) => event.account_id);
    for (const account of accounts) {
      const chain = byAccount.get(account) ?? [];
      if (chain.length > 0) this.chains.set(account, chain);
      else this.chains.delete(account);
      if (chain.length < readAgainAtOnce) this.inStore.delete(account);
    }
  }

  private emptied(): string[] {
    const isEmpty = (account: string) => !this.inWork.has(account) && !this.chains.get(account)?.length;
    return [...this.inStore].filter(isEmpty);
  }

  /** Sends the first of each account that is due; of a receiver that is away, of one account by chance. */
  private start(): void {
    const nowMs = Date.now();
    if (nowMs < this.awayUntilMs || !this.maySend(nowMs)) return;
    const due = [...this.chains].filter(
      ([account, [first]]) => !this.inWork.has(account) && first && (this.isAway || first.nextAtMs <= nowMs),
    );
    const free = this.isAway ? (this.inWork.size > 0 ? 0 : 1) : accountsAtOnce - this.inWork.size;
    if (this.isAway) due.sort(() => Math.random() - 0.5);
    for (const [account, chain] of due.slice(0, free)) {
      const work = this.send(chain).finally(() => {
        this.inWork.delete(account);
        if (chain.length === 0 && this.chains.get(account) === chain) this.chains.delete(account);
        this.start();
      });
      this.inWork.set(account, work);
    }
  }

  /** Whether it may send. It stops a second before its lease ends, when another instance may begin. */
  private maySend(nowMs: number): boolean {
    return !this.isStopping && nowMs < this.leaseUntilMs - 1000;
  }

  private get isAway(): boolean {
    return this.awayTries > 0;
  }

  private async send(chain: Item[]): Promise<void> {
    for (
      let item = chain[0];
      item && item.nextAtMs <= Date.now() + (this.isAway ? Infinity : 0);
      item = chain[0]
    ) {
      const nowMs = Date.now();
      if (!this.maySend(nowMs)) return;
      const body = JSON.stringify(describeEvent(item.event));
      const said = await this.receiver.post(
        signDelivery(item.event.id, body, secretsOf(this.webhook, nowMs), nowMs),
        body,
      );
      const atMs = Date.now();
      item.attempts++;
      const isAccepted = isSuccess(said.status);
      metrics()?.webhooks.inc({ outcome: isAccepted ? "accepted" : "failed" });
      if (isAccepted) this.accept();
      else if (!this.refuse(chain, item, said, nowMs, atMs)) return;
      chain.shift();
      this.settled.push({ item, state: isAccepted ? "delivered" : "failed", atMs, said });
      if (this.isAway) return;
    }
  }

  private accept(): void {
    this.failingSinceMs = null;
    this.failedInTurn.clear();
    if (!this.isAway) return;
    // The receiver is back, so nothing waits for its own time any more.
    this.awayTries = 0;
    this.awayUntilMs = 0;
    for (const [first] of this.chains.values())
      if (first) first.nextAtMs = Math.min(first.nextAtMs, Date.now() + jitter(0, 2000, Math.random()));
  }

  /** Decides about an event that was not accepted: returns whether it is given up. */
  private refuse(chain: Item[], item: Item, said: Answer, sentAtMs: number, atMs: number): boolean {
    this.failingSinceMs ??= atMs;
    item.firstAtMs ??= atMs;
    this.failedInTurn.add(item.event.account_id);
    if (said.status === gone || atMs - this.failingSinceMs >= triedForMs) {
      this.stoppedAtMs = atMs;
      this.isStopping = true;
      log().warn(
        { webhook: this.webhook.id, status: said.status },
        "nothing is sent to a webhook any more: test it",
      );
    } else if (atMs - item.firstAtMs >= triedForMs) return true;
    const askedMs = Math.min(said.retryAfterMs, 4 * hourMs);
    // Those that were on their way when it was found to be away are no further tries.
    const isTry = sentAtMs >= this.awayUntilMs;
    if (isTry && (this.isAway || this.failedInTurn.size >= accountsOfAway))
      this.awayUntilMs = atMs + Math.max(awayDelayMs(this.awayTries++), askedMs);
    item.nextAtMs = atMs + Math.max(retryDelayMs(item.attempts), askedMs);
    this.park(item, atMs, said);
    for (const later of chain.splice(1)) this.leave(later);
    return false;
  }

  /** Leaves to the store an event that waits for an earlier one of its account. */
  private leave(item: Item): void {
    this.inStore.add(item.event.account_id);
    if (!item.isStored) this.park(item);
  }

  /** Has the store keep an event that waits. */
  private park(item: Item, atMs: number | null = null, said?: Answer): void {
    item.isStored = true;
    this.settled.push({ item, state: "waiting", atMs, ...(said && { said }) });
  }

  /** Notes what was answered. Returns false if another instance has the lease, or someone changed the webhook. */
  async flush(db: Db, leaseUntilMs: number): Promise<boolean> {
    const settled = [...this.settled];
    const open = [...this.chains.values()].flat().filter(({ isStored }) => !isStored);
    const position = Math.min(this.readThrough, ...open.map(({ number }) => number - 1));
    const isSame = position === this.webhook.position && settled.length === 0 && leaseUntilMs > 0;
    if (isSame) return true;
    const { id, version } = this.webhook;
    const isOurs = await transact(db, async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("webhooks")
        .set({ position, failing_since_ms: this.failingSinceMs, stopped_at_ms: this.stoppedAtMs })
        .$if(leaseUntilMs === 0 || this.stoppedAtMs !== null, (update) =>
          update.set({ lease_by: null, lease_until_ms: 0 }),
        )
        .where("id", "=", id)
        .where("version", "=", version)
        .where("lease_by", "=", leaseHolder())
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await writeSettled(transaction, id, settled);
      return true;
    });
    if (!isOurs) return false;
    this.settled = this.settled.slice(settled.length);
    this.webhook.position = position;
    return this.stoppedAtMs === null;
  }

  /** Starts nothing more, and waits for what is being sent. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.inWork.values());
    this.receiver.close();
  }

  private chainOf(account: string): Item[] {
    const chain = this.chains.get(account) ?? [];
    this.chains.set(account, chain);
    return chain;
  }
}
