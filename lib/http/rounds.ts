import { performance } from "node:perf_hooks";
import { roundBounds } from "@/lib/config/limits";
import type { Call } from "@/lib/http/call";
import { findKnownCaller } from "@/lib/http/known-caller";
import type { Circle } from "@/lib/rate-limit/client";
import { RecentCache } from "@/lib/runtime/recent-cache";

const { ms: roundMs, longMs, muchMs, halvedAfterMs, knownForMs } = roundBounds;

type Sender = { isKnown: boolean; network: Circle; client: Circle };

/** A request that waits, or is in work. */
type Turn = { lane: Lane; network: Circle; begin: () => void; sinceMs: number };

/** The milliseconds of the event loop that each network has had lately. */
class Usage {
  private readonly of = new RecentCache<{ ms: number; atMs: number }>(20_000, 5 * halvedAfterMs);

  at(network: Circle, nowMs: number): number {
    const { ms, atMs } = (typeof network === "string" && this.of.get(network)) || { ms: 0, atMs: nowMs };
    return ms * 2 ** ((atMs - nowMs) / halvedAfterMs);
  }

  add(network: Circle, ms: number, nowMs: number): void {
    if (typeof network !== "string") return;
    this.of.set(network, { ms: this.at(network, nowMs) + ms, atMs: nowMs }, nowMs);
  }
}

/** Requests of one kind. Of the networks that have had least lately, each has a turn, then the next; so do its clients. */
class Lane {
  waiting = 0;
  inWork = 0;
  restsUntilMs = 0;
  private readonly levels: Map<Circle, Map<Circle, Turn[]>>[] = [];

  add(turn: Turn, client: Circle, level: number): void {
    this.levels[level] ??= new Map();
    const networks = this.levels[level];
    const clients = networks.get(turn.network) ?? new Map<Circle, Turn[]>();
    networks.set(turn.network, clients);
    const turns = clients.get(client);
    if (turns) turns.push(turn);
    else clients.set(client, [turn]);
    this.waiting++;
  }

  take(): Turn | undefined {
    const networks = this.levels.find((level) => level && level.size > 0);
    if (!networks) return undefined;
    for (const [network, clients] of networks)
      for (const [client, turns] of clients) {
        const next = turns.shift();
        goBehind(clients, client, turns.length);
        goBehind(networks, network, clients.size);
        this.waiting--;
        return next;
      }
    return undefined;
  }
}

/** Moves an entry behind all others of its map, or out of it if nothing is left there. */
function goBehind<Value>(map: Map<Circle, Value>, name: Circle, left: number): void {
  const value = map.get(name) as Value;
  map.delete(name);
  if (left > 0) map.set(name, value);
}

/**
 * Begins requests in rounds, one in each turn of the event loop, and lets them wait once there are more than it can take.
 * libuv accepts one connection a turn (libuv/libuv#3696), so a round takes 2 ms, and begins so many requests that the turn is
 * not much longer. Known callers and strangers go alternately, and of these first those whose network has had least of the
 * loop lately. While known callers ask, strangers leave the loop free for as long as they have used it, and so does a known
 * caller that asks for much.
 */
export class Rounds {
  private readonly known = new Lane();
  private readonly much = new Lane();
  private readonly strangers = new Lane();
  private readonly restful = [this.much, this.strangers];
  private lanes = [this.known, ...this.restful];
  private readonly usage = new Usage();
  /** What one request in work has had since the start, if all in work at the same time have had equal shares. */
  private shareMs = 0;
  private knownUntilMs = 0;
  private waiting = 0;
  private inWork = 0;
  private done: Turn[] = [];
  private isOpen = false;
  /** How many rounds were opened. */
  count = 0;
  private beganAtMs = 0;
  private begun = 0;
  private atOnce = 8;
  private seen = { atMs: 0, idleMs: 0 };
  private isTimed = false;

  constructor(
    private readonly nowMs = () => performance.now(),
    private readonly idleMs = () => performance.nodeTiming.idleTime,
  ) {}

  /** Does the work of a request in its turn; at once if no one waits. */
  run(sender: () => Sender, work: () => Promise<void> | undefined): Promise<void> | undefined {
    const waited = this.wait(sender)?.then(async (turn) => {
      turn.sinceMs = this.shareMs;
      turn.lane.inWork++;
      this.inWork++;
      try {
        await work();
      } finally {
        // Its share is known when the turn of the loop ends.
        this.done.push(turn);
        if (!this.isOpen) this.open();
      }
    });
    return waited ?? work();
  }

  /** Waits for a turn, before others if it is in work already; `undefined` if no one has to wait. */
  wait(sender: () => Sender, isInWork = false): Promise<Turn> | undefined {
    if (!this.isOpen) this.open();
    if (this.waiting === 0 && this.hasTime()) return undefined;
    const { isKnown, network, client } = sender();
    const nowMs = this.nowMs();
    if (this.waiting + this.inWork === 0) this.seen = { atMs: nowMs, idleMs: this.idleMs() };
    this.waiting++;
    const usedMs = this.usage.at(network, nowMs);
    const lane = !isKnown ? this.strangers : usedMs > muchMs ? this.much : this.known;
    if (lane === this.known) this.knownUntilMs = nowMs + knownForMs;
    return new Promise((resolve) => {
      const turn = { lane, network, begin: () => resolve(turn), sinceMs: 0 };
      lane.add(turn, client, isInWork ? 0 : 1 + Math.floor(Math.log2(1 + usedMs)));
    });
  }

  private hasTime(): boolean {
    return this.begun++ < this.atOnce && this.nowMs() - this.beganAtMs < roundMs;
  }

  private open(): void {
    this.isOpen = true;
    this.count++;
    this.beganAtMs = this.nowMs();
    this.begun = 0;
    setImmediate(() => this.close());
  }

  /** Ends the round, and begins the next one if requests wait. */
  private close(): void {
    this.isOpen = false;
    if (this.waiting + this.inWork === 0) return;
    const tookMs = this.share();
    if (this.waiting === 0) return;
    if (tookMs > longMs) this.atOnce = Math.max(1, this.atOnce >> 1);
    else if (this.begun >= this.atOnce) this.atOnce++;
    void this.goOn();
  }

  /** Shares what the loop has worked since the last round among those in work; some lanes rest for as long. */
  private share(): number {
    const sinceMs = this.seen.atMs;
    const [atMs, idleMs] = [this.nowMs(), this.idleMs()];
    const tookMs = Math.max(0, atMs - sinceMs - (idleMs - this.seen.idleMs));
    this.seen = { atMs, idleMs };
    const eachMs = tookMs / Math.max(1, this.inWork);
    this.shareMs += eachMs;
    if (atMs < this.knownUntilMs)
      for (const lane of this.restful)
        lane.restsUntilMs = Math.max(lane.restsUntilMs, sinceMs) + eachMs * lane.inWork;
    for (const turn of this.done) {
      turn.lane.inWork--;
      this.inWork--;
      this.usage.add(turn.network, this.shareMs - turn.sinceMs, atMs);
    }
    this.done = [];
    return tookMs;
  }

  private async goOn(): Promise<void> {
    const mayBegin = (lane: Lane) => lane.waiting > 0 && lane.restsUntilMs <= this.nowMs();
    if (!this.lanes.some(mayBegin)) return this.goOnLater();
    this.open();
    while (this.hasTime()) {
      const lane = this.lanes.find(mayBegin);
      if (!lane) return;
      this.lanes = [...this.lanes.filter((other) => other !== lane), lane];
      this.waiting--;
      lane.take()?.begin();
      // What it does at once counts.
      await undefined;
    }
  }

  private goOnLater(): void {
    if (this.isTimed) return;
    this.isTimed = true;
    setTimeout(() => {
      this.isTimed = false;
      if (!this.isOpen) this.open();
    }, 1);
  }
}

const rounds = new Rounds();

/** Who sent a call: an account whose credential was valid lately, or on our other ports a peer; otherwise a network. */
const senderOf = (call: Call) => (): Sender => {
  const account = call.site.loggedAs ? call.client.key : findKnownCaller(call.headers);
  if (account) return { isKnown: true, network: account, client: account };
  const network = call.client.network ?? Symbol();
  return { isKnown: false, network, client: call.client.key };
};

/** Does the work of a call in its turn at the event loop. */
export function inRound(call: Call, work: () => Promise<void> | undefined): Promise<void> | undefined {
  return rounds.run(senderOf(call), work);
}

/** Waits for another turn if this reading has lasted longer than its own: it ends when others decide that the body comes. */
export async function readInRound<Body>(call: Call, reading: Promise<Body>): Promise<Body> {
  const { count } = rounds;
  const body = await reading;
  if (rounds.count !== count) await rounds.wait(senderOf(call), true);
  return body;
}
